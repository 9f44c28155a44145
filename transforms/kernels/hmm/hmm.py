"""The HMM of word alignment (Vogel, Ney and Tillmann 1996) for one pair in one direction.

Each word of one side, in order, is made by a word of the other side (its state) or by nothing. The
next state depends on the distance from the last one; while nothing makes words, the position stays
(Och and Ney 2003, section 2.2).

A word may have all states or, in a very long pair, a window of them: ``width`` states from
``low[word]``, which never falls. A position behind the window counts as the one just before it.
"""

from typing import NamedTuple

import numba
import numpy as np

JUMPS = 64
"""Longer distances count as this one."""

_NO_PATH = np.float32(-1e30)
_SMALL = 1e-200
_RARE = np.float32(1e-4)


class Layout(NamedTuple):
    """Weights of jumps in windows of one width; pads let four rows be read at once.

    Attributes:
        ahead: 3 zeros, then weights of the distances ``-width`` to ``width``, float32.
        back: 3 zeros, then the same weights in reverse, float32.
        scale: For each last position (0: before the window) what makes its weights, times
            ``1 - p_null``, sum to 1, float32 ``[width + 1]``.
    """

    ahead: np.ndarray
    back: np.ndarray
    scale: np.ndarray


@numba.njit(nogil=True, cache=True)
def lay_out(jumps: np.ndarray, width: int, p_null: float) -> Layout:
    """Lay the weights of jumps out for windows of one width.

    Args:
        jumps: Weight of each distance from ``-JUMPS`` to ``JUMPS``, float32, above 0.
        width: States in a window.
        p_null: Probability that a word is made by nothing, in (0, 1).
    """
    ahead = np.zeros(2 * width + 4, dtype=np.float32)
    back = np.zeros(2 * width + 4, dtype=np.float32)
    for at in range(2 * width + 1):
        ahead[at + 3] = jumps[min(max(at - width, -JUMPS), JUMPS) + JUMPS]
        back[2 * width + 3 - at] = ahead[at + 3]
    scale = np.empty(width + 1, dtype=np.float32)
    total = 0.0
    for at in range(width + 1, 2 * width + 1):
        total += ahead[at + 3]
    scale[0] = (1.0 - p_null) / total
    for last in range(1, width + 1):
        total += np.float64(ahead[width + 4 - last]) - np.float64(ahead[2 * width + 4 - last])
        scale[last] = (1.0 - p_null) / total
    return Layout(ahead, back, scale)


@numba.njit(nogil=True, cache=True)
def add_rows(
    table: np.ndarray, base: int, weights: np.ndarray, count: int, sums: np.ndarray
) -> None:
    """Compute ``sums[at] = sum(weights[row] * table[base - row + at])`` over rows below ``count``.

    Four rows at a time, so that the sums are read and written a quarter as often.

    Args:
        table: A weight for each distance, float32; 3 more before row ``count - 1``.
        base: Where row 0 begins.
        weights: Weight of each row, float32; 0 in up to 3 places from ``count`` on.
        count: Rows.
        sums: Receives the sums, float32.
    """
    width = len(sums)
    sums[:] = 0.0
    for row in range(0, count, 4):
        first, second, third, fourth = (
            weights[row],
            weights[row + 1],
            weights[row + 2],
            weights[row + 3],
        )
        start = base - row
        one = table[start : start + width]
        two = table[start - 1 : start - 1 + width]
        three = table[start - 2 : start - 2 + width]
        four = table[start - 3 : start - 3 + width]
        for at in range(width):
            sums[at] += first * one[at] + second * two[at] + third * three[at] + fourth * four[at]


@numba.njit(nogil=True, cache=True)
def posteriors(
    emission: np.ndarray,
    low: np.ndarray,
    null: np.ndarray,
    layout: Layout,
    p_null: float,
    result: np.ndarray,
    jump_counts: np.ndarray,
) -> float:
    """Compute the probability of each link of one pair in one direction.

    Args:
        emission: Probability of each word given each state of its window, float32
            ``[word, width]``.
        low: First state of each word's window, int32 ``[word]``.
        null: Probability of each word given nothing, float32 ``[word]``, above 0.
        layout: Of the jumps, for the same width and ``p_null``.
        p_null: Probability that a word is made by nothing, in (0, 1).
        result: Receives the posteriors, float32 ``[word, width]``.
        jump_counts: Is added the expected number of jumps by distance, float64
            ``[2 * JUMPS + 1]``; or empty.

    Returns:
        The natural logarithm of the pair's likelihood.
    """
    words, width = emission.shape
    scale = layout.scale
    stay = np.float32(p_null)
    count = len(jump_counts) > 0
    # Vectors that all words share: a slice for each word costs more than its sums.
    now = np.zeros(width + 1, dtype=np.float32)
    now[0] = 1.0
    made = np.empty(width, dtype=np.float32)
    weights = np.zeros(width + 5, dtype=np.float32)
    inverses = np.empty(words, dtype=np.float32)
    # before[word, last]: mass of the last position before the word, as its own window sees it.
    before = np.empty((words if count else 0, width + 1), dtype=np.float32)
    log_likelihood = 0.0
    likelihood = 1.0
    for word in range(words):
        for last in range(width + 1):
            weights[last] = now[last] * scale[last]
        if count:
            for last in range(width + 1):
                before[word, last] = now[last]
        add_rows(layout.ahead, width + 4, weights, width + 1, made)
        for state in range(width):
            made[state] *= emission[word, state]
        empty = stay * null[word]
        # The positions' masses sum to 1.
        total = empty + sum_of(made)
        likelihood *= total
        if likelihood < _SMALL:
            log_likelihood += np.log(likelihood)
            likelihood = 1.0
        inverse = np.float32(1.0) / total
        inverses[word] = inverse
        empty *= inverse
        now[0] *= empty
        for state in range(width):
            value = made[state] * inverse
            result[word, state] = value
            now[state + 1] = empty * now[state + 1] + value
        if word + 1 < words and low[word + 1] > low[word]:
            slide(now, low[word + 1] - low[word])
    behind = np.ones(width + 1, dtype=np.float32)
    gift = np.zeros(width + 3, dtype=np.float32)
    given = np.empty((words if count else 0, width), dtype=np.float32)
    gathered = np.empty(width + 1, dtype=np.float32)
    for word in range(words - 1, -1, -1):
        if word + 1 < words and low[word + 1] > low[word]:
            unslide(behind, low[word + 1] - low[word])
        inverse = inverses[word]
        for state in range(width):
            result[word, state] *= behind[state + 1]
            gift[state] = emission[word, state] * behind[state + 1] * inverse
        if count:
            for state in range(width):
                given[word, state] = gift[state]
        add_rows(layout.back, width + 2, gift, width, gathered)
        empty = stay * null[word] * inverse
        for last in range(width + 1):
            behind[last] = empty * behind[last] + scale[last] * gathered[last]
    if count:
        count_jumps(before, given, layout, jump_counts)
    return log_likelihood + np.log(likelihood)


@numba.njit(nogil=True, cache=True)
def sum_of(values: np.ndarray) -> np.float32:
    """Return a sum, added in four strands."""
    one = np.float32(0.0)
    two = np.float32(0.0)
    three = np.float32(0.0)
    four = np.float32(0.0)
    whole = len(values) // 4 * 4
    for at in range(0, whole, 4):
        one += values[at]
        two += values[at + 1]
        three += values[at + 2]
        four += values[at + 3]
    for at in range(whole, len(values)):
        one += values[at]
    return (one + two) + (three + four)


@numba.njit(nogil=True, cache=True)
def count_jumps(
    before: np.ndarray, given: np.ndarray, layout: Layout, jump_counts: np.ndarray
) -> None:
    """Add the expected jumps of all words, by distance.

    Args:
        before: Mass of the last position before each word, float32 ``[word, width + 1]``.
        given: What each word and those after it say of its state, float32 ``[word, width]``.
        layout: Of the jumps.
        jump_counts: Is added to, float64 ``[2 * JUMPS + 1]``.
    """
    words = given.shape[0]
    width = before.shape[1] - 1
    line = np.empty(width, dtype=np.float32)
    for last in range(width + 1):
        line[:] = 0.0
        for word in range(words):
            mass = before[word, last]
            if mass > _RARE:
                for state in range(width):
                    line[state] += mass * given[word, state]
        for state in range(width):
            distance = min(max(state - last + 1, -JUMPS), JUMPS)
            weight = layout.ahead[width + 4 - last + state] * layout.scale[last]
            jump_counts[distance + JUMPS] += line[state] * weight


@numba.njit(nogil=True, cache=True)
def slide(mass: np.ndarray, step: int) -> None:
    """Move the mass of the positions to a window ``step`` states on; what falls out adds up."""
    size = len(mass)
    for last in range(1, size):
        value = mass[last]
        mass[last] = 0.0
        mass[max(last - step, 0)] += value


@numba.njit(nogil=True, cache=True)
def unslide(values: np.ndarray, step: int) -> None:
    """Read the values of the positions of a window ``step`` states back."""
    for last in range(len(values) - 1, 0, -1):
        values[last] = values[max(last - step, 0)]


@numba.njit(nogil=True, cache=True)
def independent_posteriors(
    emission: np.ndarray, null: np.ndarray, p_null: float, result: np.ndarray
) -> float:
    """Compute the posteriors of IBM Model 1: every state is as likely as any other.

    Arguments and result are those of `posteriors`.
    """
    words, width = emission.shape
    move = np.float32((1.0 - p_null) / width)
    stay = np.float32(p_null)
    log_likelihood = 0.0
    for word in range(words):
        total = stay * null[word]
        for state in range(width):
            total += move * emission[word, state]
        log_likelihood += np.log(total)
        inverse = move / total
        for state in range(width):
            result[word, state] = emission[word, state] * inverse
    return log_likelihood


@numba.njit(nogil=True, cache=True)
def best_path(
    emission: np.ndarray, low: np.ndarray, null: np.ndarray, layout: Layout, p_null: float
) -> np.ndarray:
    """Find the likeliest states (Viterbi 1967); of equals, the first.

    Arguments are those of `posteriors`.

    Returns:
        The state of each word, counted from 0 and not from the window, int32; -1 for nothing.
    """
    words, width = emission.shape
    log_ahead = np.log(layout.ahead[3:])
    log_scale = np.log(layout.scale)
    score = np.full(width + 1, _NO_PATH, dtype=np.float32)
    score[0] = 0.0
    # from_last[word, last]: the last position before the word, if `last` is that after it;
    # stayed: the word is made by nothing.
    from_last = np.zeros((words, width + 1), dtype=np.int32)
    stayed = np.ones((words, width + 1), dtype=np.bool_)
    for word in range(words):
        shift = low[word] - low[word - 1] if word > 0 else np.int32(0)
        origin = np.arange(width + 1).astype(np.int32)
        if shift > 0:
            moved = np.full(width + 1, _NO_PATH, dtype=np.float32)
            for last in range(width + 1):
                at = max(last - shift, 0)
                if score[last] > moved[at]:
                    moved[at] = score[last]
                    origin[at] = last
            score = moved
        empty = np.float32(np.log(p_null * null[word]))
        after = score + empty
        from_last[word] = origin
        for state in range(width):
            if emission[word, state] <= 0.0:
                continue
            best = _NO_PATH
            choice = 0
            for last in range(width + 1):
                value = score[last] + log_scale[last] + log_ahead[width + 1 - last + state]
                if value > best:
                    best = value
                    choice = last
            best += np.log(emission[word, state])
            if best > after[state + 1]:
                after[state + 1] = best
                from_last[word, state + 1] = origin[choice]
                stayed[word, state + 1] = False
        score = after - after.max()
    path = np.full(words, -1, dtype=np.int32)
    last = int(np.argmax(score))
    for word in range(words - 1, -1, -1):
        if not stayed[word, last]:
            path[word] = low[word] + last - 1
        last = from_last[word, last]
    return path
