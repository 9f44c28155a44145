"""Vectors of whole sentences, computed from those of their pieces."""

from typing import TypeAlias

import numpy as np
import pyarrow as pa
import torch

from pairweave.models.encoder.blocks import CutPairs
from pairweave.models.encoder.encoder import inference
from pairweave.models.encoder.piece_encoder import PieceEncoder
from pairweave.models.similarity.yisi_scorer import encoded_blocks

Tensor: TypeAlias = torch.Tensor


class SentenceEncoder:
    """An encoder of sentences; one call at a time."""

    def __init__(self, pooling: str, pieces: PieceEncoder) -> None:
        """Keep the parts.

        Args:
            pooling: ``mean``: the mean of the vectors of a sentence's pieces without special ones;
                ``cls``: the vector of the special piece before them. For a sentence over the
                encoder's limit, the mean over its windows.
            pieces: The encoder.
        """
        self._pooling, self._pieces = pooling, pieces

    def encode_or_reject(self, table: pa.Table) -> tuple[pa.Table, dict[int, tuple[str, str]]]:
        """Encode both sides of pairs, and give up pairs that cannot be encoded.

        Args:
            table: Pairs (with the texts of `transforms.schemas.PAIRS`).

        Returns:
            Columns ``source`` and ``target``, each a vector of length 1 (of 0 if a side has no
            pieces), fixed-size lists of float32; a row for each pair that is not rejected, in
            order; and the reason and a detail of each rejected pair, by row.

        Raises:
            WorkerError: The encoder returned a value that is not finite.
        """
        hidden_size = self._pieces.encoder.hidden_size
        vectors = np.zeros((2, table.num_rows, hidden_size), np.float32)
        rejected: dict[int, tuple[str, str]] = {}
        for block, hidden in encoded_blocks(table, self._pieces):
            rejected |= block.rejected
            pooled = self._pooled(block, hidden)
            vectors[0][block.rows], vectors[1][block.rows] = np.split(pooled, 2)
        kept = np.ones(table.num_rows, np.bool_)
        kept[list(rejected)] = False
        columns = {
            side: pa.FixedSizeListArray.from_arrays(pa.array(rows[kept].ravel()), hidden_size)
            for side, rows in zip(("source", "target"), vectors, strict=True)
        }
        return pa.table(columns), dict(sorted(rejected.items()))

    @inference()
    def _pooled(self, block: CutPairs, hidden: Tensor) -> np.ndarray:
        """Return the vectors of all sources, then of all targets, ``[2 pairs, hidden]``."""
        sizes = np.concatenate([block.source.lengths, block.target.lengths])
        send = self._pieces.send
        if self._pooling == "mean":
            vectors, counts = hidden.float(), sizes
        else:
            vectors = self._pieces.encode_first(block.ids, block.sequences).float()
            self._pieces.require_finite(vectors)
            ends = np.cumsum(sizes)
            texts = np.searchsorted(ends, block.sequences.starts, side="right")
            vectors = vectors[send(np.argsort(texts, kind="stable"))]
            counts = np.bincount(texts, minlength=len(sizes))
        real = np.flatnonzero(counts)
        pooled = torch.zeros((len(sizes), vectors.shape[1]), device=vectors.device)
        if len(real):
            means = torch.segment_reduce(vectors, "mean", lengths=send(counts[real]), axis=0)
            pooled[send(real)] = torch.nn.functional.normalize(means, dim=1, eps=1e-12)
        return pooled.cpu().numpy()
