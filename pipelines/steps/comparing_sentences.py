"""The steps of the job ``filter`` with sentence vectors: encoding shards, then their margins."""

import functools
from collections.abc import Iterable

import apache_beam as beam

from pairweave.models.similarity.compared_shards import compare, encode
from pairweave.models.similarity.scorer_reference import SimilarityReference
from pairweave.transforms.filtering.rules import RuleConfig
from pairweave.transforms.filtering.scored_shards import Place
from pairweave.transforms.shards.shard import Shard, Shards


class CompareSentences(beam.PTransform[Shards, Shards]):
    """Encodes every shard, then compares the pairs of the wanted shards with all sentences."""

    def __init__(
        self,
        reference: SimilarityReference,
        place: Place,
        shards: int,
        wanted: frozenset[int],
        *,
        rules: RuleConfig,
        every: bool,
        accelerator: str | None,
    ) -> None:
        """Set how pairs are compared.

        Args:
            reference: The encoder.
            place: Directory of the vectors.
            shards: Number of shards.
            wanted: Shards to score; the others only supply neighbours.
            rules: The rules; pairs that they reject are not neighbours.
            every: Whether pairs that a rule rejects are scored as well.
            accelerator: Beam's resource hint for the step that encodes.
        """
        super().__init__()
        self._encode = functools.partial(
            encode, reference=reference, place=place, rules=rules, every=every
        )
        self._compare = functools.partial(
            compare, reference=reference, place=place, shards=shards, rules=rules
        )
        self._wanted = wanted
        self._hints = {} if accelerator is None else {"accelerator": accelerator}

    def expand(self, shards: Shards) -> Shards:
        """Encode each shard, then compare once all are encoded."""
        encode = beam.Map(self._encode).with_output_types(Shard)
        encoded = shards | "Encode" >> encode.with_resource_hints(**self._hints)
        numbers = encoded | "Numbers" >> beam.Map(lambda shard: shard.number)
        wanted = self._wanted
        chosen = encoded | "Wanted" >> beam.Filter(lambda shard: shard.number in wanted)
        step = beam.Map(_compared, self._compare, beam.pvalue.AsList(numbers))
        return chosen | "Compare" >> step.with_output_types(Shard)


def _compared(shard: Shard, compare_shard: functools.partial, _encoded: Iterable[int]) -> Shard:  # type: ignore[type-arg]
    return shard.with_table(compare_shard(shard.table, number=shard.number))
