"""The shuffle: row batches become shards."""

import functools
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
"""Bytes of rows to collect before splitting, so that parts of shards are not too small."""

DIRECT_SHARDS = 1_024
"""Maximum number of shards into which rows are split at once.

A part of a few rows costs as much as one of hundreds: of 65,536 rows split into 15,000 shards, each
part has four, and the shuffle takes 110 µs and 1.5 kB a row, where 2 µs and 0.35 kB are enough.
"""

GROUP_SHARDS = 16
"""Shards into which rows are split in a second pass: a group of them passes through one worker."""


ShardNumbers = Callable[[pa.RecordBatch, int], np.ndarray]
"""Returns the shard of each row, given their number; the same for rows with the same id."""


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
        numbers_of: Returns the shard of each row.

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
    """Splits a bundle's row batches by shard; an empty batch gives every shard.

    With groups, rows are split by group of shards instead.
    """

    def __init__(
        self,
        shards: int,
        wanted: frozenset[int],
        numbers_of: ShardNumbers = ids.shard_numbers,
        group: int = 1,
    ) -> None:
        self._keys = -(-shards // group)
        self._wanted = frozenset(shard // group for shard in wanted)
        self._numbers_of = functools.partial(
            _group_numbers, numbers_of=numbers_of, shards=shards, group=group
        )
        self._batches: list[pa.RecordBatch] = []
        self._bytes = 0

    def start_bundle(self) -> None:
        """Drop the rows of a failed bundle."""
        self._batches, self._bytes = [], 0

    def process(self, batch: pa.RecordBatch) -> Iterator[tuple[int, pa.Table]]:
        """Hold a batch; emit when enough is held."""
        if not batch.num_rows:
            for key in sorted(self._wanted):
                yield key, schemas.ROWS.empty_table()
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
            yield from split_rows(batches, self._keys, self._wanted, self._numbers_of)


def _group_numbers(
    batch: pa.RecordBatch, _keys: int, numbers_of: ShardNumbers, shards: int, group: int
) -> np.ndarray:
    return numbers_of(batch, shards) // group


def split_group(
    element: tuple[int, Iterable[pa.Table]],
    shards: int,
    wanted: frozenset[int],
    numbers_of: ShardNumbers = ids.shard_numbers,
    group: int = GROUP_SHARDS,
) -> Iterator[tuple[int, pa.Table]]:
    """Split the rows of one group of shards by shard; every wanted shard of the group is yielded.

    Args:
        element: The group's number and its parts.
        shards: Number of all shards.
        wanted: Shards to make.
        numbers_of: Returns the shard of each row.
        group: Shards in a group.
    """
    first = element[0] * group
    own = range(first, min(first + group, shards))
    for shard in own:
        if shard in wanted:
            yield shard, schemas.ROWS.empty_table()

    def within(batch: pa.RecordBatch, _keys: int) -> np.ndarray:
        return numbers_of(batch, shards) - first

    for batches in _buffers(element[1]):
        for place, rows in split_rows(batches, len(own), None, within):
            if first + place in wanted:
                yield first + place, rows


def _buffers(parts: Iterable[pa.Table]) -> Iterator[list[pa.RecordBatch]]:
    """Yield the batches of tables, as many at a time as a buffer holds."""
    held: list[pa.RecordBatch] = []
    size = 0
    for part in parts:
        held += part.to_batches()
        size += part.nbytes
        if size >= BUFFER_BYTES:
            yield held
            held, size = [], 0
    if held:
        yield held


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
    collections instead costs some runners a copy of all shuffled data.) Rows of more than
    `DIRECT_SHARDS` shards are shuffled twice: to groups of shards, then to the shards of each.
    """

    def __init__(
        self,
        shards: int,
        wanted: frozenset[int],
        numbers_of: ShardNumbers = ids.shard_numbers,
        begin: Callable[[int], None] | None = None,
    ) -> None:
        """Set which shards are made.

        Args:
            shards: Number of shards.
            wanted: Shards to make.
            numbers_of: Returns the shard of each row.
            begin: Called with a shard's number before the shard is made; None for no call.
        """
        super().__init__()
        self.shards = shards
        self.wanted = wanted
        self.numbers_of = numbers_of
        self.begin = begin

    def expand(self, batches: Batches) -> Shards:
        """Split, group and merge."""
        rows = tuple[int, pa.Table]
        shards, wanted, numbers_of = self.shards, self.wanted, self.numbers_of
        if shards <= DIRECT_SHARDS:
            split = beam.ParDo(SplitRows(shards, wanted, numbers_of))
            parts = batches | "Split" >> split.with_output_types(rows)
        else:
            split = beam.ParDo(SplitRows(shards, wanted, numbers_of, GROUP_SHARDS))
            groups = batches | "SplitByGroup" >> split.with_output_types(rows)
            groups = groups | "GatherGroups" >> beam.GroupByKey()
            again = beam.FlatMap(split_group, shards, wanted, numbers_of, GROUP_SHARDS)
            parts = groups | "Split" >> again.with_output_types(rows)
        merge = beam.Map(make_shard, begin=self.begin)
        return parts | "Group" >> beam.GroupByKey() | "Merge" >> merge
