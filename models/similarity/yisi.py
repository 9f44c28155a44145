"""YiSi-2: the similarity of each piece to its best counterpart on the other side (Lo 2019)."""

from typing import TypeAlias

import numpy as np
import torch

from pairweave.models.encoder.piece_similarity import cosines, within

Tensor: TypeAlias = torch.Tensor


def best_similarities(
    source: Tensor, target: Tensor, source_lengths: Tensor, target_lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the greatest cosine of each piece with the pieces of the other side.

    Args:
        source: Vectors of the source pieces, padded ``[pair, source, hidden]``.
        target: Vectors of the target pieces, padded ``[pair, target, hidden]``.
        source_lengths: Pieces of each source, at least 1 ``[pair]``.
        target_lengths: Pieces of each target, at least 1 ``[pair]``.

    Returns:
        Those of the source pieces ``[pair, source]`` and of the target pieces ``[pair, target]``;
        0 for padding.
    """
    rows = within(source_lengths, source.shape[1])
    columns = within(target_lengths, target.shape[1])
    similarity = cosines(source.float(), target.float())
    similarity = similarity.masked_fill(~(rows[:, :, None] & columns[:, None, :]), -2.0)
    of_source = similarity.amax(2).masked_fill(~rows, 0.0)
    of_target = similarity.amax(1).masked_fill(~columns, 0.0)
    return of_source, of_target


def weighted_means(similarities: Tensor, weights: Tensor) -> Tensor:
    """Return the mean similarity of each row's pieces, float64 ``[pair]``.

    Args:
        similarities: ``[pair, piece]``.
        weights: Weight of each piece, 0 for padding, float64 ``[pair, piece]``.
    """
    return (similarities.double() * weights).sum(1) / weights.sum(1)


def f_score(precision: np.ndarray, recall: np.ndarray, alpha: float) -> np.ndarray:
    """Return ``P R / (alpha P + (1 - alpha) R)`` (Lo 2019, section 2).

    Args:
        precision: Weighted mean over the target's pieces ``[pair]``.
        recall: Weighted mean over the source's pieces ``[pair]``.
        alpha: 0 gives the precision, 1 the recall, 0.5 their harmonic mean.

    Returns:
        float64 ``[pair]``; 0 unless both are above 0.
    """
    both = (precision > 0) & (recall > 0)
    mean = np.where(both, alpha * precision + (1 - alpha) * recall, 1.0)
    return np.where(both, precision * recall / mean, 0.0)
