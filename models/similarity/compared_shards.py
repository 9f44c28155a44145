"""Sentence vectors of shards, and the margins of their pairs over all sentences."""

from collections.abc import Iterable, Sequence

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
from pairweave.transforms.shards.shard import Shard


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
