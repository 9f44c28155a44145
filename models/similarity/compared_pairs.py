"""Pieces of an encoder counted in a sample, and pairs of a shard scored by their pieces."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.pieces import cut_pieces
from pairweave.models.similarity import idf, scorer_reference
from pairweave.models.similarity.idf import IdfReference
from pairweave.models.similarity.scorer_reference import SimilarityReference
from pairweave.models.similarity.similarity_score import score_of
from pairweave.transforms.filtering import filtered, rules
from pairweave.transforms.filtering.rules import RuleConfig
from pairweave.transforms.shards.sample import gather_sample

BLOCK_PAIRS = 1 << 12
"""Number of pairs whose pieces are in memory at once for counting: a few kilobytes for each."""


def count_pieces(
    element: tuple[int, Iterable[pa.Table]],
    encoder: EncoderConfig,
    directory: str,
    facts: dict[str, object],
) -> IdfReference:
    """Count pieces in the parts of a sample and save the counts.

    Args:
        element: The sample's parts under one key.
        encoder: The encoder that cuts text into pieces.
        directory: Directory of the counts.
        facts: Further metadata of the counts.
    """
    sample = gather_sample(list(element[1]), "pieces are counted on", "lower --idf_pairs")
    tokenizer = scorer_reference.load_tokenizer(encoder)
    vocabulary = max(tokenizer.get_vocab().values()) + 1
    counted = idf.nothing_counted(vocabulary, idf.digest_of(tokenizer))
    for start in range(0, sample.num_rows, BLOCK_PAIRS):
        block = sample.slice(start, BLOCK_PAIRS)
        source, target = (
            cut_pieces(tokenizer, block.column(side).to_pylist()) for side in ("source", "target")
        )
        counted = counted.with_pairs(source, target)
    return idf.save(directory, idf.pack(counted, facts))


def judge_and_compare(
    table: pa.Table,
    counted: IdfReference,
    reference: SimilarityReference,
    config: RuleConfig,
    *,
    every: bool,
) -> pa.Table:
    """Turn PAIRS rows into SCORED rows (`transforms.filtering.filtered`).

    Args:
        table: All pairs of a shard.
        counted: Document frequencies of pieces.
        reference: The encoder.
        config: The rules.
        every: Whether pairs that a rule rejects are scored as well.
    """
    judged = rules.judge(table, config)
    wanted = np.arange(table.num_rows) if every else np.flatnonzero(judged.first() < 0)
    similar, given_up = reference.load(counted).score_or_reject(table.take(pa.array(wanted)))
    left = np.delete(wanted, list(given_up))
    values = {name: similar.column(name).to_numpy() for name in similar.column_names}
    scores = score_of(values, reference.config)
    reasons = {int(wanted[row]): why for row, why in given_up.items()}
    return filtered.compared(table, judged, left, similar, scores, reasons)
