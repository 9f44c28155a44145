"""Texts in the rows of a table, so that a takedown needs no input file.

Rows of `align` and `filter` have the texts of their pair, and so have plain rows of `augment`. A
tagged row has them with tags, and perhaps with a space beside a tag: it is compared without its
tags and without white space. Rows of `suggest` have the source alone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.refresh import tables
from pairweave.pipelines.refresh.tables import Entry
from pairweave.transforms.screen import sentence_keys
from pairweave.transforms.symbols.representations import find_representation

HIDDEN_TARGETS = frozenset({"suggestions"})
"""Tables whose rows do not have the target text of their pairs."""

_SIDES = ("source", "target")
_ANY_TAG = re.compile("<[^<>]*>")


class WantedTexts:
    """Texts of a list, to be found in rows."""

    def __init__(self, texts: Sequence[str], main: str, settings: Mapping[str, Any]) -> None:
        """Set what is looked for.

        Args:
            texts: The texts.
            main: Name of the table of the job's rows.
            settings: The settings that its rows are made with.
        """
        self._main, self._tags = main, _pattern_of(settings["options"])
        self._keys = sentence_keys(pa.array(texts, pa.string()))
        self._inks = {tags: _ink_keys(texts, tags) for tags in (self._tags, _ANY_TAG)}

    @property
    def keys(self) -> list[int]:
        """Return the key of each text."""
        return [int(key) for key in self._keys]

    def in_rows(self, table: str, name: str, entry: Entry) -> Iterator[tuple[int, str]]:
        """Yield the key of a text and the id of a row that has it, for a file of a table."""
        if not len(self._keys):
            return
        sides = [side for side in _SIDES if name not in HIDDEN_TARGETS or side == "source"]
        rows = tables.read_rows(table, name, entry, ["id", *sides])
        rows = rows.filter(rows.column("id").is_valid())
        for side in sides:
            texts = pc.fill_null(rows.column(side), "")
            for row, key in self._found(texts, self._tags_in(name, entry)):
                yield key, rows.column("id")[row].as_py()

    def in_texts(self, texts: pa.Array) -> Iterator[tuple[int, int]]:
        """Yield the place and the key of each text that is wanted; texts may be null."""
        yield from self._found(pc.fill_null(texts, ""), None)

    def _tags_in(self, name: str, entry: Entry) -> re.Pattern[str] | None:
        """Return a pattern of the tags in the rows of a file; None if they have none."""
        if name != self._main:
            return _ANY_TAG  # rejects, whose texts are as in the input
        return self._tags if entry["partition"].get("kind") == "tagged" else None

    def _found(
        self, texts: pa.Array | pa.ChunkedArray, tags: re.Pattern[str] | None
    ) -> Iterator[tuple[int, int]]:
        wanted = self._keys if tags is None else self._inks[tags]
        keys = sentence_keys(texts) if tags is None else _ink_keys(texts.to_pylist(), tags)
        order = np.argsort(wanted, kind="stable")
        for row in np.flatnonzero(np.isin(keys, wanted)).tolist():
            start = np.searchsorted(wanted[order], keys[row], "left")
            stop = np.searchsorted(wanted[order], keys[row], "right")
            for place in order[start:stop].tolist():
                yield row, int(self._keys[place])


def _ink_keys(texts: Sequence[str], tags: re.Pattern[str]) -> np.ndarray:
    """Return keys of texts without tags and white space."""
    inked = ["".join(tags.sub("", text).split()) for text in texts]
    return sentence_keys(pa.array(inked, pa.string()))


def _pattern_of(options: Mapping[str, Any]) -> re.Pattern[str]:
    """Return a pattern of the tags that rows may have."""
    name = options.get("representation", "indexed")
    if name == "raw":
        return _ANY_TAG
    return find_representation(options["template"] if name == "template" else name).pattern()
