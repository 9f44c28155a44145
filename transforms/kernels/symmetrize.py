"""Symmetrization of directed word links, link for link what fast_align's ``atools`` gives.

The rows of a pair's link matrix are held as bits, 64 target words to a machine word, so that one
step looks at all targets of a source word. Sweeps still accept links one by one in ascending
(source, target) order, for an accepted link decides what may follow it.
"""

import numba
import numpy as np

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
"""The codes of the heuristics by their names (Och and Ney 2003; Koehn et al. 2005)."""

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TOP = np.uint64(63)


# The top six bits of a power of two times a de Bruijn sequence tell them all apart
# (Leiserson, Prokop and Randall 1998).
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_BIT_OF = np.zeros(64, np.int64)
for _bit in range(64):
    _BIT_OF[(int(_DE_BRUIJN) << _bit) % 2**64 >> 58] = _bit


@numba.njit(nogil=True, cache=True)
def _largest(values: np.ndarray, start: int, end: int) -> int:
    largest = np.int64(-1)
    for link in range(start, end):
        if values[link] > largest:
            largest = np.int64(values[link])
    return int(largest)


@numba.njit(nogil=True, cache=True)
def _set_bits(
    bits: np.ndarray, source: np.ndarray, target: np.ndarray, start: int, end: int, stride: int
) -> None:
    for link in range(start, end):
        column = np.int64(target[link])
        cell = (np.int64(source[link]) + 1) * stride + 1 + (column >> 6)
        bits[cell] |= _ONE << np.uint64(column & 63)


@numba.njit(nogil=True, cache=True)
def _combine(
    accepted: np.ndarray,
    remaining: np.ndarray,
    forward: np.ndarray,
    reverse: np.ndarray,
    linked: np.ndarray,
    taken: np.ndarray,
    height: int,
    words: int,
    union: int,
) -> None:
    """Accept the intersection or the union; what is left of the union remains."""
    stride = words + 2
    for row in range(1, height + 1):
        linked[row] = False
        for word in range(words):
            cell = row * stride + 1 + word
            both = forward[cell] & reverse[cell]
            any_ = forward[cell] | reverse[cell]
            accepted[cell] = any_ if union else both
            remaining[cell] = any_ ^ both
            taken[word] |= both
            if both != _ZERO:
                linked[row] = True


@numba.njit(nogil=True, cache=True)
def _grow(
    accepted: np.ndarray,
    remaining: np.ndarray,
    linked: np.ndarray,
    taken: np.ndarray,
    height: int,
    words: int,
    diagonal: int,
) -> None:
    """Sweep the remaining links until a sweep accepts none.

    A link is accepted at once if its source or its target has no link yet and a neighbour is
    accepted. One whose two words have links can never be, and is struck out.
    """
    stride = words + 2
    mask = ~_ZERO if diagonal else _ZERO
    changed = True
    while changed:
        changed = False
        for row in range(1, height + 1):
            for word in range(words):
                cell = row * stride + 1 + word
                free = remaining[cell]
                if linked[row]:
                    free &= ~taken[word]
                if free == _ZERO:
                    remaining[cell] = free
                    continue
                up, down = cell - stride, cell + stride
                beside = accepted[up] | accepted[down]
                wide = accepted[cell] | (beside & mask)
                near = beside | (wide << _ONE) | (wide >> _ONE)
                if words > 1:
                    before = accepted[cell - 1] | ((accepted[up - 1] | accepted[down - 1]) & mask)
                    after = accepted[cell + 1] | ((accepted[up + 1] | accepted[down + 1]) & mask)
                    near |= (before >> _TOP) | (after << _TOP)
                candidates = free & near
                while candidates != _ZERO:
                    bit = candidates & (~candidates + _ONE)
                    changed = True
                    accepted[cell] |= bit
                    taken[word] |= bit
                    free ^= bit
                    if not linked[row]:
                        linked[row] = True
                        free &= ~taken[word]
                    near |= bit << _ONE
                    candidates = free & near & ~(bit | (bit - _ONE))
                remaining[cell] = free


@numba.njit(nogil=True, cache=True)
def _add_final(
    accepted: np.ndarray,
    directed: np.ndarray,
    linked: np.ndarray,
    taken: np.ndarray,
    height: int,
    words: int,
    need_both: int,
) -> None:
    """Go once over directed links and accept those with a free word, or with two."""
    stride = words + 2
    for row in range(1, height + 1):
        for word in range(words):
            cell = row * stride + 1 + word
            free = directed[cell] & ~accepted[cell]
            if free == _ZERO:
                continue
            if need_both:
                free &= ~taken[word]
                if linked[row]:
                    free = _ZERO
                free &= ~free + _ONE
            elif not linked[row]:
                # The first is accepted for its source word, the others only for their targets.
                first = free & (~free + _ONE)
                free = first | (free & ~taken[word])
            else:
                free &= ~taken[word]
            if free != _ZERO:
                accepted[cell] |= free
                taken[word] |= free
                linked[row] = True


@numba.njit(nogil=True, cache=True)
def symmetrize(
    forward_offsets: np.ndarray,
    forward_source: np.ndarray,
    forward_target: np.ndarray,
    reverse_offsets: np.ndarray,
    reverse_source: np.ndarray,
    reverse_target: np.ndarray,
    heuristic: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join the two directions of each pair's links.

    Both directions hold links as (source word, target word). Within a pair they may come in any
    order, and one given twice counts once.

    Args:
        forward_offsets: Where each pair's forward links start, int64 ``[pair + 1]``.
        forward_source: Source words, int16 ``[link]``, not negative (not checked).
        forward_target: Target words, the same.
        reverse_offsets: As for forward, with the same number of pairs.
        reverse_source: As for forward.
        reverse_target: As for forward.
        heuristic: One of `HEURISTICS`.

    Returns:
        Offsets int64 ``[pair + 1]`` from 0, source and target words int16 ``[link]``, ascending by
        (source, target) within a pair.
    """
    pairs = len(forward_offsets) - 1
    most = forward_offsets[pairs] - forward_offsets[0] + reverse_offsets[pairs] - reverse_offsets[0]
    offsets = np.zeros(pairs + 1, np.int64)
    source = np.empty(most, np.int16)
    target = np.empty(most, np.int16)
    # [4, cell]: forward, reverse, accepted, remaining; each with a border of empty cells, and all
    # zero between pairs.
    bits = np.zeros((4, 66 * 3), np.uint64)
    linked = np.zeros(66, np.bool_)
    taken = np.zeros(1, np.uint64)
    count = 0
    for pair in range(pairs):
        f_start, f_end = forward_offsets[pair], forward_offsets[pair + 1]
        r_start, r_end = reverse_offsets[pair], reverse_offsets[pair + 1]
        height = 1 + max(
            _largest(forward_source, f_start, f_end), _largest(reverse_source, r_start, r_end)
        )
        last = max(
            _largest(forward_target, f_start, f_end), _largest(reverse_target, r_start, r_end)
        )
        words = (last >> 6) + 1
        stride = words + 2
        area = (height + 2) * stride
        if area > bits.shape[1]:
            bits = np.zeros((4, area + area // 4), np.uint64)
        if height + 2 > len(linked):
            linked = np.zeros(2 * height + 2, np.bool_)
        if words > len(taken):
            taken = np.zeros(2 * words, np.uint64)
        forward, reverse, accepted, remaining = bits[0], bits[1], bits[2], bits[3]
        _set_bits(forward, forward_source, forward_target, f_start, f_end, stride)
        _set_bits(reverse, reverse_source, reverse_target, r_start, r_end, stride)
        taken[:words] = _ZERO
        _combine(
            accepted,
            remaining,
            forward,
            reverse,
            linked,
            taken,
            height,
            words,
            heuristic == UNION,
        )
        if heuristic >= GROW:
            diagonal = heuristic != GROW
            _grow(accepted, remaining, linked, taken, height, words, diagonal)
        if heuristic >= GROW_DIAG_FINAL:
            both = heuristic == GROW_DIAG_FINAL_AND
            _add_final(accepted, forward, linked, taken, height, words, both)
            _add_final(accepted, reverse, linked, taken, height, words, both)
        for row in range(1, height + 1):
            for word in range(words):
                rest = accepted[row * stride + 1 + word]
                while rest != _ZERO:
                    source[count] = row - 1
                    lowest = rest & (~rest + _ONE)
                    target[count] = word * 64 + _BIT_OF[(lowest * _DE_BRUIJN) >> np.uint64(58)]
                    count += 1
                    rest ^= lowest
        bits[:, :area] = _ZERO
        offsets[pair + 1] = count
    return offsets, source[:count], target[:count]


@numba.njit(nogil=True, cache=True)
def mean_probabilities(
    offsets: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    forward_offsets: np.ndarray,
    forward_source: np.ndarray,
    forward_target: np.ndarray,
    forward_probability: np.ndarray,
    reverse_offsets: np.ndarray,
    reverse_source: np.ndarray,
    reverse_target: np.ndarray,
    reverse_probability: np.ndarray,
) -> np.ndarray:
    """Give each joined link the mean of its two directed probabilities.

    A direction without the link counts as 0. All links ascend by (source, target) within a pair.

    Args:
        offsets: Where each pair's joined links start, int64 ``[pair + 1]``.
        source: Source words, int16 ``[link]``.
        target: Target words, the same.
        forward_offsets: As above, of the forward links.
        forward_source: As above.
        forward_target: As above.
        forward_probability: Probabilities, float32 ``[link]``.
        reverse_offsets: As for forward.
        reverse_source: As for forward.
        reverse_target: As for forward.
        reverse_probability: As for forward.

    Returns:
        Probabilities float32 ``[link]``, from 0 to 1.
    """
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
