"""Symmetrization of directed word links, with the same results as fast_align's ``atools``.

The rows of a pair's link matrix are bit sets, 64 target words to a machine word, so that one step
tests all targets of a source word. Sweeps still accept links one by one in ascending (source,
target) order, because later decisions depend on accepted links.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.links.links import Links, WeightedLinks
from pairweave.transforms.kernels.uncounted import uncounted

INTERSECTION = 0
UNION = 1
GROW = 2
GROW_DIAG = 3
GROW_DIAG_FINAL = 4
GROW_DIAG_FINAL_AND = 5

HEURISTICS = {
    "intersection": INTERSECTION,
    "union": UNION,
    "grow": GROW,
    "grow-diag": GROW_DIAG,
    "grow-diag-final": GROW_DIAG_FINAL,
    "grow-diag-final-and": GROW_DIAG_FINAL_AND,
}
"""Codes of the heuristics (Och and Ney 2003; Koehn et al. 2005)."""

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TOP = np.uint64(63)


# The top six bits of a power of two times a de Bruijn sequence identify the power
# (Leiserson, Prokop and Randall 1998).
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_BIT_OF = np.zeros(64, np.int64)
for _bit in range(64):
    _BIT_OF[(int(_DE_BRUIJN) << _bit) % 2**64 >> 58] = _bit


class _Matrix(NamedTuple):
    """The link matrix of a pair; its arrays are reused for all pairs.

    Attributes:
        accepted: Bits of the accepted links, uint64 ``[cell]``.
        remaining: Bits of the links that can still be accepted, uint64 ``[cell]``.
        linked: All bits set for each source word that has an accepted link, uint64 ``[row]``.
        taken: Bits of the target words that have an accepted link, uint64 ``[word]``.
    """

    accepted: np.ndarray
    remaining: np.ndarray
    linked: np.ndarray
    taken: np.ndarray


class _Size(NamedTuple):
    """The part of the link matrix that a pair fills.

    Attributes:
        height: Number of source words.
        words: Number of machine words for the bits of the target words.
        plane: Distance from one machine word of a row to the next, in cells.
    """

    height: int
    words: int
    plane: int


@uncounted
def _largest(values: np.ndarray, offsets: np.ndarray) -> int:
    largest = np.int16(-1)
    for link in range(offsets[0], offsets[-1]):
        largest = max(largest, values[link])
    return int(largest)


@uncounted
def _set_bits(
    bits: np.ndarray, source: np.ndarray, target: np.ndarray, start: int, end: int, plane: int
) -> tuple[int, int]:
    """Set the bits of links and return the last source and target word, or -1."""
    last_row, last_column = np.int64(-1), np.int64(-1)
    for link in range(start, end):
        row, column = np.int64(source[link]), np.int64(target[link])
        bits[np.uint64(((column >> 6) + 1) * plane + row + 1)] |= _ONE << np.uint64(column & 63)
        last_row = max(last_row, row)
        last_column = max(last_column, column)
    return int(last_row), int(last_column)


@uncounted
def _combine(
    matrix: _Matrix, size: _Size, forward: np.ndarray, reverse: np.ndarray, union: int
) -> None:
    """Accept the intersection or the union; the rest of the union becomes `remaining`."""
    accepted, remaining, linked, taken = matrix
    height, words, plane = size
    linked[: height + 1] = _ZERO
    for word in range(words):
        in_column = _ZERO
        for row in range(1, height + 1):
            cell = np.uint64((word + 1) * plane + row)
            both = forward[cell] & reverse[cell]
            either = forward[cell] | reverse[cell]
            accepted[cell] = either if union else both
            remaining[cell] = either ^ both
            in_column |= both
            linked[row] |= _ZERO - np.uint64(both != _ZERO)
        taken[word] = in_column


@uncounted
def _grow(matrix: _Matrix, size: _Size, open_rows: np.ndarray, diagonal: int) -> None:
    """Sweep the remaining links until a sweep accepts none.

    A link is accepted immediately if its source or its target has no link yet and a neighbour is
    accepted. A link whose words both have links can never be accepted and is removed; a row
    without remaining links is skipped from then on.
    """
    accepted, remaining, linked, taken = matrix
    height, words, plane = size
    mask = ~_ZERO if diagonal else _ZERO
    rows = 0
    for row in range(1, height + 1):
        left = _ZERO
        for word in range(words):
            cell = np.uint64((word + 1) * plane + row)
            remaining[cell] &= ~(taken[word] & linked[row])
            left |= remaining[cell]
        open_rows[rows] = row
        rows += left != _ZERO
    changed = _ONE
    while changed != _ZERO:
        changed = _ZERO
        still_open = 0
        for place in range(rows):
            row = open_rows[place]
            left = _ZERO
            for word in range(words):
                cell = np.uint64((word + 1) * plane + row)
                free = remaining[cell] & ~(taken[word] & linked[row])
                beside = accepted[cell - _ONE] | accepted[cell + _ONE]
                wide = accepted[cell] | (beside & mask)
                near = beside | (wide << _ONE) | (wide >> _ONE)
                if words > 1:
                    for other, shift in (
                        (cell - np.uint64(plane), 0),
                        (cell + np.uint64(plane), 1),
                    ):
                        across = accepted[other] | (
                            (accepted[other - _ONE] | accepted[other + _ONE]) & mask
                        )
                        near |= across << _TOP if shift else across >> _TOP
                candidates = free & near
                # Branchless: without a candidate the bit is 0 and changes nothing.
                while True:
                    bit = candidates & (~candidates + _ONE)
                    accepted[cell] |= bit
                    taken[word] |= bit
                    linked[row] |= _ZERO - np.uint64(bit != _ZERO)
                    changed |= bit
                    free &= ~(taken[word] & linked[row])
                    near |= bit << _ONE
                    candidates = free & near & ~(bit | (bit - _ONE))
                    if candidates == _ZERO:
                        break
                remaining[cell] = free
                left |= free
            open_rows[still_open] = row
            still_open += left != _ZERO
        rows = still_open


@uncounted
def _add_final(matrix: _Matrix, size: _Size, directed: np.ndarray, need_both: int) -> None:
    """Go over directed links once and accept those with one free word, or with two."""
    accepted, _, linked, taken = matrix
    height, words, plane = size
    for row in range(1, height + 1):
        for word in range(words):
            cell = np.uint64((word + 1) * plane + row)
            free = directed[cell] & ~accepted[cell]
            if need_both:
                free &= ~taken[word]
                added = free & (~free + _ONE) & ~linked[row]
            else:
                # The first is accepted for its free source word, others for their free targets.
                added = (free & ~taken[word]) | (free & (~free + _ONE) & ~linked[row])
            accepted[cell] |= added
            taken[word] |= added
            linked[row] |= _ZERO - np.uint64(added != _ZERO)


@numba.njit(nogil=True, cache=True)
def symmetrize(forward_links: Links, reverse_links: Links, heuristic: int) -> Links:
    """Combine the two directions of each pair's links.

    Both directions have links as (source word, target word), in any order within a pair. A repeated
    link counts once.

    Args:
        forward_links: The forward links; no word is negative (not checked).
        reverse_links: The reverse links of the same pairs, in the same form.
        heuristic: One of `HEURISTICS`.

    Returns:
        The symmetrized links: offsets from 0, and links ascending by (source, target) in a pair.
    """
    forward_offsets, forward_source, forward_target = forward_links
    reverse_offsets, reverse_source, reverse_target = reverse_links
    pairs = len(forward_offsets) - 1
    most = forward_offsets[pairs] - forward_offsets[0] + reverse_offsets[pairs] - reverse_offsets[0]
    offsets = np.zeros(pairs + 1, np.int64)
    source = np.empty(most + 1, np.int16)
    target = np.empty(most + 1, np.int16)
    last_row = max(
        _largest(forward_source, forward_offsets), _largest(reverse_source, reverse_offsets)
    )
    last_column = max(
        _largest(forward_target, forward_offsets), _largest(reverse_target, reverse_offsets)
    )
    # [plane, row], flat: 64 target words of each source word, with a border of empty cells. Between
    # pairs all of them are 0 except `remaining`.
    plane = last_row + 3
    cells = plane * ((last_column >> 6) + 3)
    forward = np.zeros(cells, np.uint64)
    reverse = np.zeros(cells, np.uint64)
    accepted = np.zeros(cells, np.uint64)
    remaining = np.zeros(cells, np.uint64)
    taken = np.zeros((last_column >> 6) + 1, np.uint64)
    linked = np.zeros(plane, np.uint64)
    open_rows = np.zeros(plane, np.int64)
    matrix = _Matrix(accepted, remaining, linked, taken)
    count = 0
    for pair in range(pairs):
        f_row, f_column = _set_bits(
            forward,
            forward_source,
            forward_target,
            forward_offsets[pair],
            forward_offsets[pair + 1],
            plane,
        )
        r_row, r_column = _set_bits(
            reverse,
            reverse_source,
            reverse_target,
            reverse_offsets[pair],
            reverse_offsets[pair + 1],
            plane,
        )
        height = max(f_row, r_row) + 1
        words = (max(f_column, r_column) >> 6) + 1
        union = heuristic == UNION
        size = _Size(height, words, plane)
        _combine(matrix, size, forward, reverse, union)
        if heuristic >= GROW:
            _grow(matrix, size, open_rows, heuristic != GROW)
        if heuristic >= GROW_DIAG_FINAL:
            both = heuristic == GROW_DIAG_FINAL_AND
            _add_final(matrix, size, forward, both)
            _add_final(matrix, size, reverse, both)
        for row in range(1, height + 1):
            for word in range(words):
                cell = np.uint64((word + 1) * plane + row)
                rest = accepted[cell]
                forward[cell] = _ZERO
                reverse[cell] = _ZERO
                accepted[cell] = _ZERO
                # Branchless: the first is always written, since most words have one.
                while True:
                    lowest = rest & (~rest + _ONE)
                    source[count] = row - 1
                    target[count] = word * 64 + _BIT_OF[(lowest * _DE_BRUIJN) >> np.uint64(58)]
                    count += rest != _ZERO
                    rest ^= lowest
                    if rest == _ZERO:
                        break
        offsets[pair + 1] = count
    return Links(offsets, source[:count], target[:count])


@numba.njit(nogil=True, cache=True)
def mean_probabilities(
    joined: Links, forward_links: WeightedLinks, reverse_links: WeightedLinks
) -> np.ndarray:
    """Return the mean of the two directed probabilities of each symmetrized link.

    A direction without the link counts as 0. All links ascend by (source, target) within a pair.

    Args:
        joined: The symmetrized links.
        forward_links: The forward links.
        reverse_links: The reverse links.

    Returns:
        Probabilities of the symmetrized links, float32 ``[link]``, from 0 to 1.
    """
    offsets, source, target = joined
    forward_offsets, forward_source, forward_target, forward_probability = forward_links
    reverse_offsets, reverse_source, reverse_target, reverse_probability = reverse_links
    means = np.zeros(len(source), np.float32)
    half = np.float32(0.5)
    for pair in range(len(offsets) - 1):
        forward, reverse = forward_offsets[pair], reverse_offsets[pair]
        for link in range(offsets[pair], offsets[pair + 1]):
            key = (np.int64(source[link]) << 16) | np.int64(target[link])
            total = np.float32(0)
            while forward < forward_offsets[pair + 1]:
                other = (np.int64(forward_source[forward]) << 16) | np.int64(
                    forward_target[forward]
                )
                if other > key:
                    break
                if other == key:
                    total += forward_probability[forward]
                forward += 1
            while reverse < reverse_offsets[pair + 1]:
                other = (np.int64(reverse_source[reverse]) << 16) | np.int64(
                    reverse_target[reverse]
                )
                if other > key:
                    break
                if other == key:
                    total += reverse_probability[reverse]
                reverse += 1
            means[link] = total * half
    return means
