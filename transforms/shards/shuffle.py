"""The shuffle: row batches become shards."""

from collections.abc import Callable, Iterable, Iterator

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from pairweave.transforms import ids, schemas
from pairweave.transforms.arrow import arrow_coder
from pairweave.transforms.shards.merge import merge_rows, pairs_of, require_room
from pairweave.transforms.shards.shard import Batches, Shard, Shards

arrow_coder.register()

BUFFER_BYTES = 128 << 20
"""Rows collected before they are split, so that a part of a shard is not a handful of rows."""


ShardNumbers = Callable[[pa.RecordBatch, int], np.ndarray]
"""Returns the shard of each row, given their number; the same for rows with one id."""


def split_rows(
    batches: list[pa.RecordBatch],
    shards: int,
    wanted: frozenset[int] | None,
    numbers_of: ShardNumbers = ids.shard_numbers,
) -> Iterator[tuple[int, pa.Table]]:
    """Split rows by shard.

    Args:
        batches: Rows (`schemas.ROWS`).
        shards: Number of shards.
        wanted: Shards to make; None for all.
        numbers_of: Which shard a row falls into.

    Yields:
        A shard's number and its rows among these, in their order.
    """
    numbers = np.concatenate([numbers_of(batch, shards) for batch in batches])
    order = np.argsort(numbers, kind="stable")
    rows = pa.Table.from_batches(batches).unify_dictionaries().take(pa.array(order))
    bounds = np.searchsorted(numbers[order], np.arange(shards + 1))
    for shard in range(shards):
        start, end = int(bounds[shard]), int(bounds[shard + 1])
        if start < end and (wanted is None or shard in wanted):
            yield shard, rows.slice(start, end - start)


class SplitRows(beam.DoFn):
    """Splits a bundle's row batches by shard; an empty batch gives every shard."""

    def __init__(
        self,
        shards: int,
        wanted: frozenset[int],
        numbers_of: ShardNumbers = ids.shard_numbers,
    ) -> None:
        self._shards = shards
        self._wanted = wanted
        self._numbers_of = numbers_of
        self._batches: list[pa.RecordBatch] = []
        self._bytes = 0

    def start_bundle(self) -> None:
        """Drop the rows of a failed bundle."""
        self._batches, self._bytes = [], 0

    def process(self, batch: pa.RecordBatch) -> Iterator[tuple[int, pa.Table]]:
        """Hold a batch; emit when enough is held."""
        if not batch.num_rows:
            for shard in sorted(self._wanted):
                yield shard, schemas.ROWS.empty_table()
            return
        self._batches.append(batch)
        self._bytes += batch.nbytes
        if self._bytes >= BUFFER_BYTES:
            yield from self._emit()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        """Emit the rest."""
        window = GlobalWindow()
        for part in self._emit():
            yield WindowedValue(part, window.max_timestamp(), (window,))

    def _emit(self) -> Iterator[tuple[int, pa.Table]]:
        batches, self._batches, self._bytes = self._batches, [], 0
        if batches:
            yield from split_rows(batches, self._shards, self._wanted, self._numbers_of)


def make_shard(
    element: tuple[int, Iterable[pa.Table]], begin: Callable[[int], None] | None = None
) -> Shard:
    """Turn one key of the shuffle into a shard whose working table is its pairs."""
    number, parts = element
    if begin is not None:
        begin(number)
    kept, rejected = merge_rows(parts)
    require_room(kept, f"shard {number}", "lower --shard_pairs")
    return Shard(number, kept, rejected, pairs_of(kept))


class MakeShards(beam.PTransform[Batches, Shards]):
    """Shuffles row batches into shards; every wanted shard is made, even if it is empty.

    One of the batches must be empty: it creates the shards that no row falls into. (Flattening two
    collections instead costs some runners a copy of all shuffled data.)
    """

    def __init__(
        self,
        shards: int,
        wanted: frozenset[int],
        numbers_of: ShardNumbers = ids.shard_numbers,
        begin: Callable[[int], None] | None = None,
    ) -> None:
        """Set what is made.

        Args:
            shards: Number of shards.
            wanted: Shards to make.
            numbers_of: Which shard a row falls into.
            begin: Is called with a shard's number before it is made; None for nothing.
        """
        super().__init__()
        self.shards = shards
        self.wanted = wanted
        self.numbers_of = numbers_of
        self.begin = begin

    def expand(self, batches: Batches) -> Shards:
        """Split, group and merge."""
        return (
            batches
            | "Split"
            >> beam.ParDo(SplitRows(self.shards, self.wanted, self.numbers_of)).with_output_types(
                tuple[int, pa.Table]
            )
            | "Group" >> beam.GroupByKey()
            | "Merge" >> beam.Map(make_shard, begin=self.begin)
        )
