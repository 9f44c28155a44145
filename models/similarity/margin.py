"""The margin of a pair: how similar its sides are, relative to their nearest neighbours.

Artetxe and Schwenk (2019, section 3) divide the cosine of a pair by the mean of the cosines of its
source with the ``k`` nearest targets and of its target with the ``k`` nearest sources. The search
is exact, block by block, among the distinct sentences of the whole corpus.
"""

import numpy as np
import torch

_CELLS = 1 << 25
"""Number of cosines computed at once: 128 MB."""


class Neighbours:
    """The greatest cosines of some sentences with the distinct sentences seen so far."""

    def __init__(self, vectors: np.ndarray, count: int) -> None:
        """Start without neighbours.

        Args:
            vectors: Vectors of length 1, float32 ``[sentence, hidden]``.
            count: Number of neighbours to keep for each sentence.
        """
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._vectors = torch.from_numpy(vectors).to(self._device)
        self._count = count
        self._cosines = torch.full((len(vectors), count), -torch.inf, device=self._device)
        self._keys = torch.zeros((len(vectors), count), dtype=torch.int64, device=self._device)

    def see(self, vectors: np.ndarray, keys: np.ndarray) -> None:
        """Search a block for neighbours.

        Args:
            vectors: Vectors of length 1, float32 ``[sentence, hidden]``.
            keys: Keys that are equal only for equal sentences, uint64 ``[sentence]``.
        """
        _, first = np.unique(keys, return_index=True)
        if not len(first) or not len(self._vectors):
            return
        block = torch.from_numpy(vectors[first]).to(self._device)
        named = torch.from_numpy(keys[first].view(np.int64)).to(self._device)
        # Merging compares the keys of old and new neighbours with each other.
        cells = max(len(first), (2 * self._count) ** 2)
        rows = max(_CELLS // cells, 1)
        for start in range(0, len(self._vectors), rows):
            part = slice(start, start + rows)
            cosines = self._vectors[part] @ block.T
            best, places = cosines.topk(min(self._count, len(first)), dim=1)
            self._merge(part, best, named[places])

    def _merge(self, part: slice, cosines: torch.Tensor, keys: torch.Tensor) -> None:
        """Keep the best of the old and new neighbours, each sentence once."""
        cosines = torch.cat([self._cosines[part], cosines], dim=1)
        keys = torch.cat([self._keys[part], keys], dim=1)
        cosines, order = cosines.sort(dim=1, descending=True, stable=True)
        keys = keys.gather(1, order)
        equal = (keys[:, :, None] == keys[:, None, :]) & torch.isfinite(cosines)[:, None, :]
        again = (equal & equal.new_ones(equal.shape[1:]).tril(-1)).any(2)
        cosines, order = cosines.masked_fill(again, -torch.inf).topk(self._count, dim=1)
        self._cosines[part] = cosines
        self._keys[part] = keys.gather(1, order)

    def means(self) -> np.ndarray:
        """Return the mean cosine of each sentence with its neighbours, of which there may be fewer.

        Returns:
            float64 ``[sentence]``; 0 for a sentence without neighbours.
        """
        finite = torch.isfinite(self._cosines)
        sums = self._cosines.double().masked_fill(~finite, 0.0).sum(1)
        return (sums / finite.sum(1).clamp(min=1)).cpu().numpy()


def margins(cosines: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the ratio margin of pairs, float64 ``[pair]``.

    Args:
        cosines: Cosine of each pair's sides.
        source: Mean cosine of its source with its nearest targets (`Neighbours.means`).
        target: Mean cosine of its target with its nearest sources.

    Returns:
        0 where the pair or its neighbours are not similar at all.
    """
    mean = (source + target) / 2
    similar = (mean > 0) & (cosines > 0)
    return np.where(similar, cosines / np.where(similar, mean, 1.0), 0.0)
