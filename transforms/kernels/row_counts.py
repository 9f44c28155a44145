"""Counts and sums of the items of each row: links, tags, and the tokens that tags contain."""

import numba
import numpy as np

from pairweave.transforms.kernels.text.spans import FlatSpans

_NUMBERS = 1 << 15
"""Tags and words are numbered in int16."""


@numba.njit(nogil=True, cache=True)
def distinct_by_row(offsets: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return how many different numbers each row has, int64 ``[row]``.

    Args:
        offsets: Start of each row's numbers, int64 ``[row + 1]``.
        numbers: The numbers, not negative, int16.
    """
    counts = np.zeros(len(offsets) - 1, np.int64)
    seen = np.full(_NUMBERS, -1, np.int64)
    for row in range(len(counts)):
        for at in range(offsets[row], offsets[row + 1]):
            number = numbers[at]
            if seen[number] != row:
                seen[number] = row
                counts[row] += 1
    return counts


@numba.njit(nogil=True, cache=True)
def sums_of_millionths(offsets: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the sum of each row's shares in whole millionths, int64 ``[row]``.

    Such a sum does not depend on the order of the shares.

    Args:
        offsets: Start of each row's shares, int64 ``[row + 1]``.
        shares: The shares, in [0, 1], float32.
    """
    sums = np.zeros(len(offsets) - 1, np.int64)
    for row in range(len(sums)):
        for at in range(offsets[row], offsets[row + 1]):
            sums[row] += np.int64(np.rint(np.float64(shares[at]) * 1e6))
    return sums


@numba.njit(nogil=True, cache=True)
def find_depths(spans: FlatSpans) -> np.ndarray:
    """Return the largest number of spans over one character of each row, int64 ``[row]``.

    Args:
        spans: The spans of each row, in any order.
    """
    offsets, starts, ends = spans
    rows = len(offsets) - 1
    depths = np.zeros(rows, np.int64)
    most = 0
    for row in range(rows):
        most = max(most, offsets[row + 1] - offsets[row])
    places = np.empty(2 * most, np.int64)
    for row in range(rows):
        used = 0
        for span in range(offsets[row], offsets[row + 1]):
            # At one place, spans end (an even number) before others begin (an odd one).
            if starts[span] < ends[span]:
                places[used] = np.int64(starts[span]) << 1 | 1
                places[used + 1] = np.int64(ends[span]) << 1
                used += 2
        ordered = places[:used]
        ordered.sort()
        depth = 0
        for place in ordered:
            depth += 2 * (place & 1) - 1
            depths[row] = max(depths[row], depth)
    return depths


@numba.njit(nogil=True, cache=True)
def count_tokens(spans: FlatSpans, texts: np.ndarray, tokens: FlatSpans) -> np.ndarray:
    """Count the tokens that begin within each span, without empty ones.

    Args:
        spans: The spans of each row.
        texts: The text of each row, int32 ``[row]``.
        tokens: The tokens of each text, their starts ascending.

    Returns:
        int64 ``[span]``; -1 for an empty span, and for one of no row.
    """
    offsets, starts, ends = spans
    token_offsets, token_starts, token_ends = tokens
    counts = np.full(len(starts), -1, np.int64)
    for row in range(len(texts)):
        first, behind = token_offsets[texts[row]], token_offsets[texts[row] + 1]
        for span in range(offsets[row], offsets[row + 1]):
            if starts[span] >= ends[span]:
                continue
            counts[span] = 0
            low, high = first, behind
            while low < high:
                middle = (low + high) // 2
                if token_starts[middle] < starts[span]:
                    low = middle + 1
                else:
                    high = middle
            while low < behind and token_starts[low] < ends[span]:
                counts[span] += token_starts[low] < token_ends[low]
                low += 1
    return counts
