"""Fits the map from source vectors to target vectors on clean pairs."""

from typing import TypeAlias

import numpy as np
import pyarrow as pa
import torch

from pairweave.models.encoder.encoder import inference
from pairweave.models.encoder.heads import column_best, row_best
from pairweave.models.encoder.piece_encoder import PieceEncoder
from pairweave.models.encoder.piece_similarity import cosines
from pairweave.models.similarity.similarity_options import Pairing
from pairweave.models.similarity.vector_projection import Moments
from pairweave.models.similarity.yisi_scorer import encoded_blocks

Tensor: TypeAlias = torch.Tensor


def fit_moments(pairs: pa.Table, pieces: PieceEncoder, pairing: Pairing = "mutual") -> Moments:
    """Add up the statistics of piece pairs of clean sentence pairs.

    Of equal similarities the first is used.

    Args:
        pairs: Clean pairs (with the columns of `transforms.schemas.PAIRS`).
        pieces: The encoder.
        pairing: ``argmax``: each source piece and the target piece most similar to it, "by maximum
            alignment of their semantic similarity" (NRC at WMT20, section 2.3); ``mutual``: of
            these, only the pieces that are each other's most similar, so that a piece without a
            translation is left out.

    Raises:
        WorkerError: The encoder returned a value that is not finite.
    """
    moments = Moments(pieces.encoder.hidden_size)
    for block, hidden in encoded_blocks(pairs, pieces):
        shift = len(block.source.ids)
        counterparts = []
        for pair in range(len(block.rows)):
            source = hidden[block.source.offsets[pair] : block.source.offsets[pair + 1]]
            target = hidden[shift:][block.target.offsets[pair] : block.target.offsets[pair + 1]]
            if len(source) and len(target):
                counterparts.append(best_counterparts(source, target, pairing))
        if counterparts:
            moments.add(*(np.concatenate(side) for side in zip(*counterparts, strict=True)))
    return moments


@inference()
def best_counterparts(
    source: Tensor, target: Tensor, pairing: Pairing = "mutual"
) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of the pieces of a pair that correspond, one pair of pieces per row.

    Args:
        source: Vectors of a source's pieces ``[source, hidden]``.
        target: Vectors of its target's pieces ``[target, hidden]``.
        pairing: See `fit_moments`.
    """
    source, target = source.float(), target.float()
    similarity = cosines(source[None], target[None])
    best = row_best(similarity)
    if pairing == "mutual":
        best &= column_best(similarity)
    rows, columns = best[0].nonzero(as_tuple=True)
    return source[rows].cpu().numpy(), target[columns].cpu().numpy()
