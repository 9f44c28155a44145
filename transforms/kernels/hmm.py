"""The HMM of word alignment (Vogel, Ney and Tillmann 1996) for one pair in one direction.

Each word of one side, in order, is made by a word of the other side (its state) or by nothing. The
next state depends on the distance from the last one; while nothing makes words, the position stays
(Och and Ney 2003, section 2.2).

A word may have all states or, in a very long pair, a window of them: ``width`` states from
``low[word]``, which never falls. A position behind the window counts as the one just before it.
"""

import numba
import numpy as np

JUMPS = 64
"""Longer distances count as this one."""

_NO_PATH = np.float32(-1e30)


@numba.njit(nogil=True, cache=True)
def lay_out(jumps: np.ndarray, width: int, p_null: float) -> tuple[np.ndarray, ...]:
    """Lay the weights of jumps out for windows of one width.

    Args:
        jumps: Weight of each distance from ``-JUMPS`` to ``JUMPS``, float32.
        width: States in a window.
        p_null: Probability that a word is made by nothing.

    Returns:
        Weights of the distances ``-width`` to ``width``; the same reversed; and for each last
        position (0: before the window) what makes its weights, times ``1 - p_null``, sum to 1.
    """
    ahead = np.empty(2 * width + 1, dtype=np.float32)
    for at in range(2 * width + 1):
        ahead[at] = jumps[min(max(at - width, -JUMPS), JUMPS) + JUMPS]
    scale = np.empty(width + 1, dtype=np.float32)
    move = np.float32(1.0 - p_null)
    for last in range(width + 1):
        total = np.float32(0.0)
        for at in range(width + 1 - last, 2 * width + 1 - last):
            total += ahead[at]
        scale[last] = move / total
    return ahead, ahead[::-1].copy(), scale


@numba.njit(nogil=True, cache=True)
def posteriors(
    emission: np.ndarray,
    low: np.ndarray,
    null: np.ndarray,
    jumps: np.ndarray,
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
        jumps: Weights of the distances, float32 ``[2 * JUMPS + 1]``, above 0.
        p_null: Probability that a word is made by nothing, in (0, 1).
        result: Receives the posteriors, float32 ``[word, width]``.
        jump_counts: Is added the expected number of jumps by distance, float64
            ``[2 * JUMPS + 1]``; or empty.

    Returns:
        The natural logarithm of the pair's likelihood.
    """
    words, width = emission.shape
    ahead, back, scale = lay_out(jumps, width, p_null)
    stay = np.float32(p_null)
    # before[word, last]: mass of the last position before the word, as its own window sees it.
    before = np.zeros((words + 1, width + 1), dtype=np.float32)
    before[0, 0] = 1.0
    made = np.empty(width, dtype=np.float32)
    log_likelihood = 0.0
    for word in range(words):
        made[:] = 0.0
        now = before[word]
        for last in range(width + 1):
            mass = now[last] * scale[last]
            if mass == 0.0:
                continue
            part = ahead[width + 1 - last : 2 * width + 1 - last]
            for state in range(width):
                made[state] += mass * part[state]
        row = emission[word]
        out = result[word]
        empty = stay * null[word]
        total = np.float32(0.0)
        for state in range(width):
            made[state] *= row[state]
            total += made[state]
        for last in range(width + 1):
            total += empty * now[last]
        inverse = np.float32(1.0) / total
        log_likelihood += np.log(total)
        empty *= inverse
        after = before[word + 1]
        after[0] = empty * now[0]
        for state in range(width):
            made[state] *= inverse
            out[state] = made[state]
            after[state + 1] = empty * now[state + 1] + made[state]
        if word + 1 < words and low[word + 1] > low[word]:
            slide(after, low[word + 1] - low[word])
    behind = np.ones(width + 1, dtype=np.float32)
    given = np.empty(width, dtype=np.float32)
    gathered = np.empty(width + 1, dtype=np.float32)
    count = len(jump_counts) > 0
    jumped = np.zeros((width + 1 if count else 0, width), dtype=np.float32)
    for word in range(words - 1, -1, -1):
        if word + 1 < words and low[word + 1] > low[word]:
            unslide(behind, low[word + 1] - low[word])
        row = emission[word]
        out = result[word]
        for state in range(width):
            out[state] *= behind[state + 1]
            given[state] = row[state] * behind[state + 1]
        gathered[:] = 0.0
        for state in range(width):
            mass = given[state]
            part = back[width - 1 - state : 2 * width - state]
            for last in range(width + 1):
                gathered[last] += mass * part[last]
        now = before[word]
        empty = stay * null[word]
        total = np.float32(0.0)
        for last in range(width + 1):
            behind[last] = empty * behind[last] + scale[last] * gathered[last]
            total += now[last] * behind[last]
        inverse = np.float32(1.0) / total
        for last in range(width + 1):
            behind[last] *= inverse
        if count:
            for last in range(width + 1):
                mass = now[last] * scale[last] * inverse
                if mass == 0.0:
                    continue
                line = jumped[last]
                for state in range(width):
                    line[state] += mass * given[state]
    if count:
        for last in range(width + 1):
            for state in range(width):
                distance = min(max(state - last + 1, -JUMPS), JUMPS)
                weight = ahead[width + 1 - last + state]
                jump_counts[distance + JUMPS] += jumped[last, state] * weight
    return log_likelihood


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
    emission: np.ndarray, low: np.ndarray, null: np.ndarray, jumps: np.ndarray, p_null: float
) -> np.ndarray:
    """Find the likeliest states (Viterbi 1967); of equals, the first.

    Arguments are those of `posteriors`.

    Returns:
        The state of each word, counted from 0 and not from the window, int32; -1 for nothing.
    """
    words, width = emission.shape
    ahead, _, scale = lay_out(jumps, width, p_null)
    log_ahead = np.log(ahead)
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
                value = score[last] + np.log(scale[last]) + log_ahead[width + 1 - last + state]
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
