"""What all users of links rely on, checked on flat arrays."""

import numba
import numpy as np


@numba.njit(nogil=True, cache=True)
def first_bad_pair(
    offsets: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    source_lengths: np.ndarray,
    target_lengths: np.ndarray,
) -> int:
    """Find the first pair with links outside its words, out of order or given twice.

    Args:
        offsets: Where each pair's links start, int64 ``[pair + 1]``.
        source: Source words, int16 ``[link]``.
        target: Target words, the same.
        source_lengths: Source words of each pair, int64 ``[pair]``.
        target_lengths: Target words of each pair, the same.

    Returns:
        The pair, or -1 if all links are inside and ascend by (source, target).
    """
    for pair in range(len(offsets) - 1):
        before = -1
        for link in range(offsets[pair], offsets[pair + 1]):
            row, column = int(source[link]), int(target[link])
            inside = 0 <= row < source_lengths[pair] and 0 <= column < target_lengths[pair]
            key = (row << 16) + column
            if not inside or key <= before:
                return pair
            before = key
    return -1
