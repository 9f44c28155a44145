"""Searching for texts in the rows of a table, so that a takedown needs no input file.

Rows of `align` and `filter` and plain rows of `augment` contain the texts of their pair. A tagged
row contains them with tags, and perhaps with a space next to a tag, so it is compared without tags
and white space. Rows of `suggest` contain only the source.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.table_names import Entry
from pairweave.transforms.screen import sentence_keys
from pairweave.transforms.symbols.representations import find_representation

HIDDEN_TARGETS = frozenset({"suggestions"})
"""Tables whose rows do not contain the target texts of their pairs."""

_SIDES = ("source", "target")
_ANY_TAG = re.compile("<[^<>]*>")


class WantedTexts:
    """The texts of a list, which are searched for in rows."""

    def __init__(self, texts: Sequence[str], main: str, settings: Mapping[str, Any]) -> None:
        """Set the texts to search for.

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
        """Yield (key of a text, id of a row that contains it) for the rows of a table's file."""
        if not len(self._keys):
            return
        sides = [side for side in _SIDES if name not in HIDDEN_TARGETS or side == "source"]
        rows = tables.read_rows(table, name, entry, ["id", *sides])
        rows = rows.filter(rows.column("id").is_valid())
        for side in sides:
            texts = pc.fill_null(rows.column(side), "")
            for row, key in self._matches(texts, self._tags_in(name, entry)):
                yield key, rows.column("id")[row].as_py()

    def in_texts(self, texts: pa.Array) -> Iterator[tuple[int, int]]:
        """Yield (index, key) of each wanted text among ``texts``, which may be null."""
        yield from self._matches(pc.fill_null(texts, ""), None)

    def _tags_in(self, name: str, entry: Entry) -> re.Pattern[str] | None:
        """Return a pattern for the tags in the rows of a file; None if the rows have no tags."""
        if name != self._main:
            return _ANY_TAG  # rejects, whose texts are as in the input
        return self._tags if entry["partition"].get("kind") == "tagged" else None

    def _matches(
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
    """Return a pattern for the tags that rows may contain."""
    name = options.get("representation", "indexed")
    if name == "raw":
        return _ANY_TAG
    return find_representation(options["template"] if name == "template" else name).pattern()
