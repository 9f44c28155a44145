"""The steps of ``filter --earlier``: compare each shard with the pairs of an earlier corpus."""

from collections.abc import Iterator

import apache_beam as beam
import pyarrow as pa

from pairweave.transforms.arrow import arrow_coder
from pairweave.transforms.filtering.deduplication import earlier
from pairweave.transforms.filtering.deduplication.earlier import Division
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.shards.shard import Shard, Shards
from pairweave.transforms.units import Plan, ReadLimits, Unit

arrow_coder.register()


class RejectEarlier(beam.PTransform[Shards, Shards]):
    """Marks the pairs of scored shards that occur in an earlier corpus as rejected."""

    def __init__(self, corpus: Plan, limits: ReadLimits, division: Division) -> None:
        super().__init__()
        self._corpus, self._limits, self._division = corpus, limits, division

    def expand(self, shards: Shards) -> Shards:
        """Write the digests of the earlier corpus, then look them up."""
        units = shards.pipeline | "Units" >> beam.Create(list(self._corpus.units), reshuffle=True)
        read = beam.FlatMap(_read, self._limits, self._division)
        written = (
            units
            | "Read" >> read
            | "Gather" >> beam.GroupByKey()
            | "Write" >> beam.Map(earlier.write, self._division).with_output_types(int)
        )
        reject = beam.Map(_reject, self._division, beam.pvalue.AsList(written))
        return shards | "Reject" >> reject.with_output_types(Shard)


def _read(unit: Unit, limits: ReadLimits, division: Division) -> Iterator[tuple[int, pa.Table]]:
    yield from earlier.divide(read_unit(unit, limits), division)


def _reject(shard: Shard, division: Division, written: list[int]) -> Shard:
    table = earlier.reject(shard.table, shard.number, division, frozenset(written))
    return shard.with_table(table)
