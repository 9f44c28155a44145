"""A word aligner of another package, adapted to runs."""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from typing import cast

import numpy as np
import pyarrow as pa

from pairweave.models.aligner import (
    AlignsEveryPair,
    LoadableReference,
    LoadedAligner,
    require_countable,
)
from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import lengths_of, list_column
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.plugins.entry_points import Plugin, load_plugin, raised
from pairweave.transforms.plugins.returned_numbers import returned_tuples
from pairweave.transforms.plugins.word_aligner import ALIGNER, WordAligner


@dataclasses.dataclass(frozen=True)
class PluginAligner(LoadableReference):
    """The reference of an aligner of another package.

    Attributes:
        plugin: The plugin, which workers load.
    """

    plugin: Plugin

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of everything that determines the links."""
        named = {"aligner": "plugin", "value": self.plugin.value, "code": self.plugin.sha256}
        return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()

    def load(self) -> LoadedAligner:
        """Return the aligner.

        Raises:
            ConfigError: It cannot be loaded here, or its code is not the planned one.
        """
        return LoadedPluginAligner(self, cast("WordAligner", load_plugin(self.plugin, ALIGNER)))


class LoadedPluginAligner(AlignsEveryPair):
    """Checks the links of an aligner of another package; implements `models.aligner.Aligner`."""

    def __init__(self, reference: PluginAligner, aligner: WordAligner) -> None:
        """Set the aligner, and the reference that it was loaded by."""
        self._reference, self._aligner = reference, aligner

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of everything that determines the links."""
        return self._reference.digest

    def align(self, table: pa.Table) -> pa.Table:
        """Turn TOKENS rows into LINKED rows, in the same order.

        Raises:
            ConfigError: The aligner raises an error, or returns anything other than links of these
                tokens.
            WorkerError: A side has more tokens than links can number.
        """
        schemas.require(table, schemas.TOKENS)
        require_countable(table)
        columns = {f"{side}_tokens": _texts(table, side) for side in ("source", "target")}
        columns |= {
            name: table.column(name).cast(pa.string()) for name in ("source_lang", "target_lang")
        }
        try:
            forward, reverse = self._aligner.align(pa.table(columns))
            both = [[list(each) for each in links] for links in (forward, reverse)]
        except (MemoryError, KeyboardInterrupt):
            raise
        except BaseException as error:  # a panic of Rust is not an Exception
            raise self._failed(raised(error)) from error
        links = [self._checked(each, table) for each in both]
        return pa.Table.from_arrays([*table.columns, *links], schema=schemas.LINKED)

    def _checked(self, links: Sequence[Sequence[object]], table: pa.Table) -> pa.ListArray:
        """Return the links of one direction as a column, sorted.

        Raises:
            ConfigError: They do not link tokens of the table; names the pair.
        """
        if len(links) != table.num_rows:
            raise self._failed(f"returned links of {len(links)} pairs for {table.num_rows}")
        try:
            sizes, flat = returned_tuples(links, 3, "links")
        except ValueError as error:
            raise self._failed(str(error)) from error
        rows = np.repeat(np.arange(len(sizes)), sizes)
        wrong = np.isnan(flat).any(axis=1) | (flat[:, 2] < 0) | (flat[:, 2] > 1)
        for place, side in enumerate(("source", "target")):
            last = lengths_of(table.column(f"{side}_tokens"))[rows]
            number = flat[:, place]
            wrong |= (number < 0) | (number >= last) | (number != np.floor(number))
        order = np.lexsort((flat[:, 1], flat[:, 0], rows))
        flat, rows, wrong = flat[order], rows[order], wrong[order]
        again = np.zeros(len(flat), np.bool_)
        again[1:] = (flat[1:, :2] == flat[:-1, :2]).all(axis=1) & (rows[1:] == rows[:-1])
        bad = np.flatnonzero(wrong | again)
        if len(bad):
            source, target, probability = flat[bad[0]].tolist()
            pair = table.column("id")[int(rows[bad[0]])]
            why = "twice" if again[bad[0]] else "which has no such tokens, or no such probability"
            raise self._failed(
                f"returned the link {source:g}-{target:g} {probability:g} of pair {pair}, {why}"
            )
        fields: dict[str, np.ndarray] = {
            "source": flat[:, 0].astype(np.int16),
            "target": flat[:, 1].astype(np.int16),
            "probability": flat[:, 2].astype(np.float32),
        }
        return list_column(np.concatenate([[0], np.cumsum(sizes)]), fields, schemas.LINK_LIST)

    def _failed(self, what: str) -> ConfigError:
        return self._reference.plugin.failed(
            "aligner",
            "align",
            what,
            "links from source to target and those of the other direction, as (source, target, "
            "probability)",
            "give another aligner",
        )


def _texts(table: pa.Table, side: str) -> pa.Array:
    """Return the texts of the tokens of each pair."""
    texts = table.column(side).to_pylist()
    tokens = table.column(f"{side}_tokens").to_pylist()
    words = [
        [text[span["start"] : span["end"]] for span in spans]
        for text, spans in zip(texts, tokens, strict=True)
    ]
    return pa.array(words, pa.list_(pa.string()))
