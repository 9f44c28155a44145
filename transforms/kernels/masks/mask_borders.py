"""Where a mask begins and ends in its text, white space between tokens included."""

import numba
import numpy as np

REPLACE, INSERT, DELETE = 0, 1, 2
OPERATIONS = ("replace", "insert", "delete")
"""The names of the operations by number."""


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

    A gap is what lies between two tokens; it is open if it holds anything. At each border of a
    region that has tokens on both sides, both ranges reach over the gap to the neighbouring token
    if the gap is open on one side only: the suggestion then brings its own spacing. Where a side
    has no token its one gap stands against two of the other side. It is matched with the right one
    if both are open or both closed, else with the left one likewise; the range holds the other
    gap. If neither matches, both ranges reach from neighbour to neighbour.

    Args:
        region_pair: The pair of each region, int64 ``[region]``.
        regions: Start and end in tokens of the translation, then of the reference, int64
            ``[4, region]``; before a region and behind it both sides have a token or neither.
        token_offsets: Tokens of each translation, int64 ``[pair + 1]``.
        starts: In code points, int32 ``[token]``.
        ends: Likewise.
        target_token_offsets: Tokens of each reference, int64 ``[pair + 1]``.
        target_starts: See above.
        target_ends: See above.

    Returns:
        Start and end in code points of the translation, then of the reference, int64
        ``[4, region]``; and the operations, int8 ``[region]``.
    """
    count = len(region_pair)
    found = np.empty((4, count), np.int64)
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
        found[0, region], found[1, region] = start, end
        found[2, region], found[3, region] = target_start, target_end
        if target_start == target_end:
            operations[region] = DELETE
        elif start == end:
            operations[region] = INSERT
        else:
            operations[region] = REPLACE
    return found, operations


@numba.njit(nogil=True, cache=True)
def _one_gap(
    has_left: bool,  # noqa: FBT001 - Numba knows no keyword alone
    has_right: bool,  # noqa: FBT001
    left: np.int64,
    right: np.int64,
    other_left: np.int64,
    begin: np.int64,
    stop: np.int64,
    other_right: np.int64,
) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """Return the ranges where one side has no token.

    Args:
        has_left: Whether a token stands before.
        has_right: Whether one stands behind.
        left: End of the token before, on the side without a token between.
        right: Start of the token behind, there.
        other_left: End of the token before, on the other side.
        begin: Start of the first token between, there.
        stop: End of the last token between, there.
        other_right: Start of the token behind, there.

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
