"""Scores of whole pairs by a fitted aligner: likelihood, coverage, gaps and word order."""

import numpy as np
import pyarrow as pa

from pairweave.models.hmm import hmm_reference, word_order
from pairweave.models.hmm.hmm import HmmModel
from pairweave.models.hmm.hmm_reference import HmmReference
from pairweave.models.hmm.hmm_vocabulary import cut_pairs
from pairweave.models.hmm.word_order import WordOrder
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.evidence import HMM_COLUMNS
from pairweave.transforms.kernels.hmm import pair_scores as kernel
from pairweave.transforms.kernels.scratch import make_scratch


def scoring_models(reference: HmmReference) -> tuple[HmmModel, WordOrder]:
    """Return a fitted aligner and its model of the order of target words.

    Raises:
        ConfigError: The aligner has no such model.
    """
    aligner = hmm_reference.load(reference)
    if aligner.order is None:
        raise ConfigError(
            f"{reference.directory}: has no {word_order.FILE}, which the score needs: it was "
            "fitted on text in one language; fit it again on the pairs' languages"
        )
    return aligner.model, aligner.order


def likelihoods(model: HmmModel, table: pa.Table) -> np.ndarray:
    """Return the likelihood of each side of pairs given the other side.

    Args:
        model: The aligner; without an HMM, the likelihoods are those of Model 1.
        table: Pairs with the kind of tokens that it was fitted on (`transforms.schemas.TOKENS`).

    Returns:
        Natural logarithms divided by the number of words, of the target given the source and of the
        source given the target, float32 ``[direction, pair]``.
    """
    return _column(model, table, kernel.LIKELIHOOD)


def coverages(model: HmmModel, table: pa.Table) -> np.ndarray:
    """Return the share of each side's words that have a partner, weighted by their rarity.

    Args:
        model: The aligner.
        table: Pairs with the kind of tokens that it was fitted on (`transforms.schemas.TOKENS`).

    Returns:
        Shares of the target's words and of the source's, float32 ``[direction, pair]`` in [0, 1].
    """
    return _column(model, table, kernel.COVERAGE)


def _column(model: HmmModel, table: pa.Table, column: int) -> np.ndarray:
    """Return one column of the scores of pairs, float32 ``[direction, pair]``."""
    schemas.require(table, schemas.TOKENS)
    parts = model.parts
    blocks, scratch = [np.zeros((2, 0), np.float32)], make_scratch()
    for source, target in cut_pairs(table):
        made = kernel.score_pairs(*parts.sides(source, target), parts.model, scratch)
        blocks.append(made[:, column])
    return np.concatenate(blocks, axis=1)


def score_pairs(model: HmmModel, order: WordOrder, table: pa.Table) -> dict[str, np.ndarray]:
    """Score pairs by both directions of a fitted aligner.

    Args:
        model: The aligner.
        order: Its model of the order of target words.
        table: Pairs with the kind of tokens that it was fitted on (`transforms.schemas.TOKENS`).

    Returns:
        float32 ``[pair]`` by the names of `transforms.filtering.evidence.HMM_COLUMNS`:
        ``forward_likelihood`` and ``reverse_likelihood``, the natural logarithm of the likelihood
        of the target given the source and of the source given the target, each divided by the
        number of words; ``target_coverage`` and ``source_coverage``, the share of a side's words
        that have a partner, weighted by their rarity; ``gap``, the heaviest run of words without a
        partner on either side, as a share of that side; ``order``, how far the partners of
        consecutive words are from being consecutive, on the worse side; ``roughness``, how unusual
        the order of the target words is. See `transforms.kernels.hmm.pair_scores` and
        `transforms.kernels.hmm.word_order`.
    """
    schemas.require(table, schemas.TOKENS)
    parts = model.parts
    blocks, rough = [np.zeros((2, kernel.COLUMNS, 0), np.float32)], [np.zeros(0, np.float32)]
    scratch = make_scratch()
    for source, target in cut_pairs(table):
        blocks.append(kernel.score_pairs(*parts.sides(source, target), parts.model, scratch))
        rough.append(order.roughness(parts.target.side(*target)))
    scores = np.concatenate(blocks, axis=2)
    columns = (
        *scores[:, kernel.LIKELIHOOD],
        *scores[:, kernel.COVERAGE],
        scores[:, kernel.GAP].max(axis=0),
        scores[:, kernel.ORDER].max(axis=0),
        np.concatenate(rough),
    )
    return dict(zip(HMM_COLUMNS, columns, strict=True))
