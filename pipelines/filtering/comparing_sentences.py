"""The steps of the job ``filter`` with sentence vectors: encoding shards, then their margins."""

import functools
from collections.abc import Iterable, Sequence

import apache_beam as beam
import numpy as np
import pyarrow as pa
import xxhash

from pairweave.models.similarity.scorer_reference import SimilarityReference
from pairweave.models.similarity.similarity_score import score_of
from pairweave.transforms.filtering import annotated, filtered, vector_files
from pairweave.transforms.filtering import rules as filter_rules
from pairweave.transforms.filtering.rules import RuleConfig
from pairweave.transforms.filtering.scored_shards import Place
from pairweave.transforms.filtering.vector_files import Vectors
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


def encode(
    shard: Shard, reference: SimilarityReference, place: Place, rules: RuleConfig, *, every: bool
) -> Shard:
    """Write the sentence vectors of a shard, unless they exist, and return the shard.

    Args:
        shard: Its working table is PAIRS rows.
        reference: The encoder.
        place: Directory of the vectors.
        rules: The rules.
        every: Whether pairs that a rule rejects are encoded as well.
    """
    if vector_files.find(place, shard.number) is not None:
        return shard
    table = shard.table
    passed = (filter_rules.judge(table, rules).first() < 0) & ~annotated.stopped(shard)
    rows = np.arange(table.num_rows) if every else np.flatnonzero(passed)
    encoded, given_up = reference.load().score_or_reject(table.take(pa.array(rows)))
    left = np.delete(rows, list(given_up))
    texts = table.take(pa.array(left))
    vectors = Vectors(
        source=_matrix(encoded.column("source")),
        target=_matrix(encoded.column("target")),
        source_keys=_keys(texts.column("source")),
        target_keys=_keys(texts.column("target")),
        neighbour=passed[left],
        rows=left,
        given_up=rows[np.array(list(given_up), np.int64)],
        reasons=np.array(["\x1f".join(why) for why in given_up.values()], np.str_),
    )
    vector_files.write(vectors, place, shard.number)
    return shard


def _compared(shard: Shard, compare_shard: functools.partial, _encoded: Iterable[int]) -> Shard:  # type: ignore[type-arg]
    return shard.with_table(compare_shard(shard.table, number=shard.number))


def compare(
    table: pa.Table,
    number: int,
    reference: SimilarityReference,
    place: Place,
    shards: int,
    rules: RuleConfig,
) -> pa.Table:
    """Turn PAIRS rows into SCORED rows (`transforms.filtering.filtered`)."""
    judged = filter_rules.judge(table, rules)
    own = vector_files.read(place, number)
    cosines, margins = margins_of(
        own, (vector_files.read(place, shard) for shard in range(shards)), reference
    )
    values = pa.table({"margin": margins.astype(np.float32), "cosine": cosines.astype(np.float32)})
    scores = score_of({"margin": values.column("margin").to_numpy()}, reference.config)
    reasons = dict(zip(own.given_up.tolist(), map(_split, own.reasons.tolist()), strict=True))
    return filtered.compared(table, judged, own.rows, values, scores, reasons)


def margins_of(
    own: Vectors, every: Iterable[Vectors], reference: SimilarityReference
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cosine of each pair's sides, and its margin, float64 ``[pair]`` each.

    Args:
        own: The vectors of the pairs.
        every: Vectors of all shards, in which neighbours are searched; one shard is in memory at a
            time.
        reference: The encoder, with the number of neighbours.
    """
    # This needs torch, like encoders.
    from pairweave.models.similarity.margin import Neighbours, margins

    sides = [
        Neighbours(vectors, reference.config.neighbours) for vectors in (own.source, own.target)
    ]
    for other in every:
        sides[0].see(other.target[other.neighbour], other.target_keys[other.neighbour])
        sides[1].see(other.source[other.neighbour], other.source_keys[other.neighbour])
    cosines = np.einsum("ij,ij->i", own.source.astype(np.float64), own.target.astype(np.float64))
    return cosines, margins(cosines, sides[0].means(), sides[1].means())


def _matrix(column: pa.ChunkedArray) -> np.ndarray:
    vectors = column.combine_chunks()
    return vectors.flatten().to_numpy().reshape(len(vectors), vectors.type.list_size)


def _keys(texts: pa.ChunkedArray) -> np.ndarray:
    keys = (xxhash.xxh3_64_intdigest(text.encode()) for text in texts.to_pylist())
    return np.fromiter(keys, np.uint64, len(texts))


def _split(reason: str) -> Sequence[str]:
    return tuple(reason.split("\x1f", 1))
