"""The steps that find near-duplicates among scored shards.

The keys of every shard's buckets are partitioned, and each partition finds the keys that several
pairs have; then the pairs in those buckets are partitioned and compared. A bucket is in one
partition, whose rows are processed in parts: first to find the best pair of each bucket, then to
compare every pair with it. Therefore no worker holds a large bucket in memory.
"""

import functools
from collections.abc import Iterable, Iterator

import apache_beam as beam
import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow import arrow_coder
from pairweave.transforms.filtering import scored_shards
from pairweave.transforms.filtering.deduplication import near_duplicates
from pairweave.transforms.filtering.scored_shards import Place

arrow_coder.register()

Numbers = beam.PCollection[int]
Keyed = tuple[int, pa.Table]
"""A table, after the number of the partition or shard that it goes to."""

PART_ROWS = 1 << 18
"""Number of rows of a partition that are processed together."""


class FindNearCopies(beam.PTransform[Numbers, Numbers]):
    """Writes the near-duplicates of every shard, and returns the numbers of shards with any.

    It starts when all shards are scored.
    """

    def __init__(self, place: Place, shards: int, threshold: float) -> None:
        super().__init__()
        self._place, self._shards, self._threshold = place, shards, threshold

    def expand(self, scored: Numbers) -> Numbers:
        """Find the buckets with several pairs, then compare the pairs in them."""
        settings = {"place": self._place, "shards": self._shards}
        waited = beam.pvalue.AsList(scored)
        numbers = scored.pipeline | "Shards" >> beam.Create(
            list(range(self._shards)), reshuffle=True
        )
        keys = numbers | "Keys" >> beam.FlatMap(keys_of, waited=waited, **settings)
        buckets = keys | "Gather" >> beam.GroupByKey() | "Buckets" >> beam.FlatMap(buckets_of)
        pairs = (
            buckets
            | "OfShards" >> beam.GroupByKey()
            | "Pairs" >> beam.FlatMap(candidates_of, **settings)
        )
        compare = functools.partial(copies_in, threshold=self._threshold)
        copies = (
            pairs
            | "Meet" >> beam.GroupByKey()
            | "Compare" >> beam.FlatMap(compare).with_output_types(Keyed)
        )
        write = beam.Map(write_copies, self._place).with_output_types(int)
        return copies | "Back" >> beam.GroupByKey() | "Write" >> write


def keys_of(number: int, place: Place, shards: int, waited: Iterable[int]) -> Iterator[Keyed]:  # noqa: ARG001 - waited for
    """Yield the keys of a shard by partition."""
    keys, _ = scored_shards.read_signatures(place, number)
    yield from near_duplicates.key_tables(keys, number, shards).items()


def buckets_of(element: tuple[int, Iterable[pa.Table]]) -> Iterator[Keyed]:
    """Yield the keys of a partition that several pairs have, by shard."""
    yield from near_duplicates.repeated_keys(list(element[1])).items()


def candidates_of(
    element: tuple[int, Iterable[pa.Table]], place: Place, shards: int
) -> Iterator[Keyed]:
    """Yield the pairs of a shard that share a bucket with others, by partition."""
    number, parts = element
    repeated = np.concatenate([part.column("key").to_numpy() for part in parts])
    keys, codes = scored_shards.read_signatures(place, number)
    table = scored_shards.read_open(place, number)
    by_partition = near_duplicates.candidates(table, keys, codes, repeated, number, shards)
    yield from by_partition.items()


def copies_in(element: tuple[int, Iterable[pa.Table]], threshold: float) -> Iterator[Keyed]:
    """Yield the near-duplicates in the buckets of a partition, by shard."""
    leaders: list[pa.Table] = []
    for rows in _parts(element[1]):
        leaders = [near_duplicates.best_of_buckets([*leaders, rows])]
    for rows in _parts(element[1]):
        copies = near_duplicates.copies_of(rows, leaders[0], threshold)
        owners = copies.column("shard").to_numpy()
        for shard in np.unique(owners).tolist():
            yield shard, copies.filter(pa.array(owners == shard)).drop_columns(["shard"])


def _parts(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Join small tables until there are `PART_ROWS` rows."""
    held: list[pa.Table] = []
    for table in tables:
        held.append(table)
        if sum(len(each) for each in held) >= PART_ROWS:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def write_copies(element: tuple[int, Iterable[pa.Table]], place: Place) -> int:
    """Write the near-duplicates of a shard; return its number."""
    number, parts = element
    return scored_shards.write_copies(near_duplicates.best_reasons(list(parts)), place, number)
