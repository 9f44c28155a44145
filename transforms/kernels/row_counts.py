"""Counts and sums of the items of each row."""

import numpy as np

from pairweave.transforms.kernels.uncounted import uncounted


@uncounted
def count_distinct(
    offsets: np.ndarray, numbers: np.ndarray, seen: np.ndarray, counts: np.ndarray
) -> None:
    """Count the different numbers of each row.

    Args:
        offsets: Start of each row's numbers, int64 ``[row + 1]``.
        numbers: The numbers, not negative.
        seen: -1 for every number up to the largest, int64; is changed.
        counts: Receives the counts, int64 ``[row]``.
    """
    for row in range(len(counts)):
        counts[row] = 0
        for at in range(offsets[row], offsets[row + 1]):
            number = numbers[at]
            if seen[number] != row:
                seen[number] = row
                counts[row] += 1


@uncounted
def sum_millionths(offsets: np.ndarray, shares: np.ndarray, sums: np.ndarray) -> None:
    """Add up shares in whole millionths, whose sum does not depend on their order.

    Args:
        offsets: Start of each row's shares, int64 ``[row + 1]``.
        shares: The shares, in [0, 1], float32.
        sums: Receives the sums, int64 ``[row]``.
    """
    for row in range(len(sums)):
        sums[row] = 0
        for at in range(offsets[row], offsets[row + 1]):
            sums[row] += np.int64(np.rint(np.float64(shares[at]) * 1e6))
