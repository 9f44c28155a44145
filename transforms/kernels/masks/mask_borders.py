"""The borders of masks in their texts, with the white space between tokens."""

import numba
import numpy as np

REPLACE, INSERT, DELETE = 0, 1, 2
OPERATIONS = ("replace", "insert", "delete")
"""Names of the operations, by number."""


@numba.njit(nogil=True, cache=True)
def find_borders(
    region_pair: np.ndarray,
    regions: np.ndarray,
    token_offsets: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    target_token_offsets: np.ndarray,
    target_starts: np.ndarray,
    target_ends: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Turn regions of tokens into ranges of code points (`transforms.suggestions.aligned_masks`).

    A gap is the text between two tokens; it is open if it is not empty. If a region has tokens on
    both sides, each border is handled separately: if the gap there is open on one side only, both
    ranges include it, so that the suggestion contains its own spacing. If one side has no token,
    its only gap corresponds to two gaps of the other side. It is matched with the right one if both
    are open or both closed, otherwise with the left one by the same rule; the range then includes
    the other gap. If neither matches, both ranges include all gaps.

    Args:
        region_pair: The pair of each region, int64 ``[region]``.
        regions: Start and end in tokens of the translation, then of the reference, int64
            ``[4, region]``; before and after a region either both sides have a token or neither.
        token_offsets: Tokens of each translation, int64 ``[pair + 1]``.
        starts: Start of each token in code points, int32 ``[token]``.
        ends: End of each token, exclusive, int32 ``[token]``.
        target_token_offsets: Tokens of each reference, int64 ``[pair + 1]``.
        target_starts: As ``starts``.
        target_ends: As ``ends``.

    Returns:
        Start and end in code points of the translation, then of the reference, int64
        ``[4, region]``; and the operations, int8 ``[region]``.
    """
    count = len(region_pair)
    borders = np.empty((4, count), np.int64)
    operations = np.empty(count, np.int8)
    for region in range(count):
        pair = region_pair[region]
        first, last = token_offsets[pair], token_offsets[pair + 1]
        target_first, target_last = target_token_offsets[pair], target_token_offsets[pair + 1]
        low, high = first + regions[0, region], first + regions[1, region]
        target_low = target_first + regions[2, region]
        target_high = target_first + regions[3, region]
        has_left = low > first and target_low > target_first
        has_right = high < last and target_high < target_last
        left = np.int64(ends[low - 1]) if has_left else np.int64(0)
        target_left = np.int64(target_ends[target_low - 1]) if has_left else np.int64(0)
        right = np.int64(starts[high]) if has_right else np.int64(0)
        target_right = np.int64(target_starts[target_high]) if has_right else np.int64(0)
        if high > low and target_high > target_low:
            start, end = np.int64(starts[low]), np.int64(ends[high - 1])
            target_start = np.int64(target_starts[target_low])
            target_end = np.int64(target_ends[target_high - 1])
            if has_left and (left < start) != (target_left < target_start):
                start, target_start = left, target_left
            if has_right and (end < right) != (target_end < target_right):
                end, target_end = right, target_right
        elif target_high > target_low:
            begin = np.int64(target_starts[target_low])
            stop = np.int64(target_ends[target_high - 1])
            start, end, target_start, target_end = _one_gap(
                has_left, has_right, left, right, target_left, begin, stop, target_right
            )
        else:
            begin, stop = np.int64(starts[low]), np.int64(ends[high - 1])
            target_start, target_end, start, end = _one_gap(
                has_left, has_right, target_left, target_right, left, begin, stop, right
            )
        borders[0, region], borders[1, region] = start, end
        borders[2, region], borders[3, region] = target_start, target_end
        if target_start == target_end:
            operations[region] = DELETE
        elif start == end:
            operations[region] = INSERT
        else:
            operations[region] = REPLACE
    return borders, operations


@numba.njit(nogil=True, cache=True)
def _one_gap(
    has_left: bool,  # noqa: FBT001 - Numba has no keyword-only arguments
    has_right: bool,  # noqa: FBT001
    left: np.int64,
    right: np.int64,
    other_left: np.int64,
    begin: np.int64,
    stop: np.int64,
    other_right: np.int64,
) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """Return the ranges of a region without a token on one side.

    Args:
        has_left: Whether there is a token before the region.
        has_right: Whether there is a token after the region.
        left: End of the token before, on the side without tokens in the region.
        right: Start of the token after, on that side.
        other_left: End of the token before, on the other side.
        begin: Start of the region's first token, on the other side.
        stop: End of the region's last token, on the other side.
        other_right: Start of the token after, on the other side.

    Returns:
        Start and end on the side without a token, then on the other side.
    """
    if not has_left:
        return (right, right, begin, other_right) if has_right else (right, right, begin, stop)
    if not has_right or (left < right) == (stop < other_right):
        return left, left, other_left, stop
    if (left < right) == (other_left < begin):
        return right, right, begin, other_right
    return left, right, other_left, other_right
