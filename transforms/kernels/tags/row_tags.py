"""How deeply the tags of each row are nested, and how many tokens they contain."""

import numba
import numpy as np

from pairweave.transforms.kernels.text.spans import FlatSpans
from pairweave.transforms.kernels.uncounted import uncounted


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


@uncounted
def count_tokens(
    spans: FlatSpans, texts: np.ndarray, tokens: FlatSpans, counts: np.ndarray
) -> None:
    """Count the tokens that begin within each span, without empty ones.

    Args:
        spans: The spans of each row.
        texts: The text of each row, int32 ``[row]``.
        tokens: The tokens of each text, their starts ascending.
        counts: Receives the counts, -1 for an empty span, int64 ``[span]``.
    """
    offsets, starts, ends = spans
    token_offsets, token_starts, token_ends = tokens
    for row in range(len(texts)):
        first, behind = token_offsets[texts[row]], token_offsets[texts[row] + 1]
        for span in range(offsets[row], offsets[row + 1]):
            counts[span] = -1
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
