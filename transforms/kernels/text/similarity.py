"""How alike two words are written: names, numbers and cognates often keep their letters."""

import numba
import numpy as np

MIN_LETTERS = 4
"""Shorter words are alike only if they are equal; so are words that begin with a digit."""


MAX_LETTERS = 64
"""Longer words are alike only if they are equal."""


@numba.njit(nogil=True, cache=True)
def letter_bag(letters: np.ndarray, start: int, end: int) -> np.uint64:
    """Return a set of the letters ``start`` to ``end - 1``, a bit for each, with collisions."""
    bag = np.uint64(0)
    for at in range(start, end):
        bag |= np.uint64(1) << np.uint64(letters[at] & 63)
    return bag


@numba.njit(nogil=True, cache=True)
def bits_set(value: np.uint64) -> np.int64:
    """Count the bits (Warren 2013, section 5-1)."""
    value -= (value >> np.uint64(1)) & np.uint64(0x5555555555555555)
    value = (value & np.uint64(0x3333333333333333)) + (
        (value >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    value = (value + (value >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((value * np.uint64(0x0101010101010101)) >> np.uint64(56))


@numba.njit(nogil=True, cache=True)
def likeness(
    letters: np.ndarray,
    start: int,
    end: int,
    others: np.ndarray,
    other_start: int,
    other_end: int,
    line: np.ndarray,
) -> float:
    """Return how alike two words are, in [0, 1].

    It is 1 for equal words. Else it is ``(2 * r - 1)**2`` for a longest common subsequence of
    ``r > 1 / 2`` of the longer word's letters (the LCSR of Melamed 1999), and 0 below.

    Args:
        letters: Folded code points of the one word, from ``start`` to ``end - 1``.
        start: See there.
        end: See there.
        others: Folded code points of the other word.
        other_start: Its first letter.
        other_end: Behind its last letter.
        line: Scratch, int32 ``[MAX_LETTERS + 1]``.
    """
    length = end - start
    width = other_end - other_start
    if length == width:
        same = True
        for at in range(length):
            if letters[start + at] != others[other_start + at]:
                same = False
                break
        if same:
            return 1.0 if length > 0 else 0.0
    shorter = min(length, width)
    longer = max(length, width)
    if shorter < MIN_LETTERS or 2 * shorter <= longer:
        return 0.0
    if 48 <= letters[start] <= 57 or 48 <= others[other_start] <= 57:
        return 0.0
    if longer > MAX_LETTERS:
        return 0.0
    line[: width + 1] = 0
    for at in range(length):
        letter = letters[start + at]
        corner = np.int32(0)
        for by in range(width):
            above = line[by + 1]
            if letter == others[other_start + by]:
                line[by + 1] = corner + 1
            elif line[by] > above:
                line[by + 1] = line[by]
            corner = above
    ratio = line[width] / longer
    if ratio <= 0.5:
        return 0.0
    return (2.0 * ratio - 1.0) ** 2
