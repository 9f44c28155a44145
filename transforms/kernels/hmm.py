"""Forward and backward passes of the HMM word alignment model (Vogel, Ney and Tillmann 1996).

Each word of one side, in order, is made by a word of the other side (its state) or by nothing. The
next state depends on the distance from the last one; while nothing makes words, the position stays
(Och and Ney 2003, section 2.2).
"""

import numba
import numpy as np

from transforms.kernels.model1 import FIXED_POINT, find_entry

JUMPS = 64
"""Distances beyond this count as this."""


@numba.njit(nogil=True, cache=True)
def reach(jumps: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Lay jump weights out for one sentence.

    Args:
        jumps: Weight of each distance from ``-JUMPS`` to ``JUMPS``, float32.
        length: States.

    Returns:
        Weights of the distances ``-length`` to ``length``, and the same reversed, float32.
    """
    ahead = np.empty(2 * length + 1, dtype=np.float32)
    for at in range(2 * length + 1):
        ahead[at] = jumps[min(max(at - length, -JUMPS), JUMPS) + JUMPS]
    return ahead, ahead[::-1].copy()


@numba.njit(nogil=True, cache=True)
def posteriors(
    emission: np.ndarray,
    null: np.ndarray,
    jumps: np.ndarray,
    p_null: float,
    result: np.ndarray,
    jump_counts: np.ndarray,
) -> float:
    """Compute the probability of each link of one pair in one direction.

    Args:
        emission: Probability of each word given each state, float32 ``[word, state]``.
        null: Probability of each word given none, float32 ``[word]``.
        jumps: Weights of the distances, float32 ``[2 * JUMPS + 1]``.
        p_null: Probability that a word is made by none.
        result: Receives the posteriors, float32 ``[word, state]``.
        jump_counts: Is added the expected number of jumps by distance, float64; empty for none.

    Returns:
        The natural logarithm of the pair's likelihood.
    """
    words, states = emission.shape
    ahead, back = reach(jumps, states)
    stay = np.float32(p_null)
    move = np.float32(1.0 - p_null)
    scale = np.empty(states + 1, dtype=np.float32)
    for last in range(states + 1):
        total = np.float32(0.0)
        part = ahead[states + 1 - last : 2 * states + 1 - last]
        for state in range(states):
            total += part[state]
        scale[last] = move / total
    # memory[j, i]: mass of the last state being i - 1 (0: none yet) after j words.
    memory = np.zeros((words + 1, states + 1), dtype=np.float32)
    memory[0, 0] = 1.0
    made = np.empty(states, dtype=np.float32)
    log_likelihood = 0.0
    for word in range(words):
        made[:] = 0.0
        before = memory[word]
        after = memory[word + 1]
        for last in range(states + 1):
            mass = before[last] * scale[last]
            if mass == 0.0:
                continue
            part = ahead[states + 1 - last : 2 * states + 1 - last]
            for state in range(states):
                made[state] += mass * part[state]
        row = emission[word]
        out = result[word]
        total = np.float32(0.0)
        for state in range(states):
            made[state] *= row[state]
            total += made[state]
        empty = stay * null[word]
        for last in range(states + 1):
            total += empty * before[last]
        inverse = np.float32(1.0) / total
        log_likelihood += np.log(total)
        empty *= inverse
        for last in range(states + 1):
            after[last] = empty * before[last]
        for state in range(states):
            made[state] *= inverse
            out[state] = made[state]
            after[state + 1] += made[state]
    behind = np.ones(states + 1, dtype=np.float32)
    given = np.empty(states, dtype=np.float32)
    gathered = np.empty(states + 1, dtype=np.float32)
    count = len(jump_counts) > 0
    pairs = np.zeros((states + 1 if count else 0, states), dtype=np.float32)
    for word in range(words - 1, -1, -1):
        row = emission[word]
        out = result[word]
        total = np.float32(0.0)
        for state in range(states):
            out[state] *= behind[state + 1]
            given[state] = row[state] * behind[state + 1]
        gathered[:] = 0.0
        for state in range(states):
            mass = given[state]
            part = back[states - 1 - state : 2 * states - state]
            for last in range(states + 1):
                gathered[last] += mass * part[last]
        before = memory[word]
        empty = stay * null[word]
        for last in range(states + 1):
            behind[last] = empty * behind[last] + scale[last] * gathered[last]
            total += before[last] * behind[last]
        inverse = np.float32(1.0) / total
        for last in range(states + 1):
            behind[last] *= inverse
        if count:
            for last in range(states + 1):
                mass = before[last] * scale[last] * inverse
                if mass == 0.0:
                    continue
                line = pairs[last]
                for state in range(states):
                    line[state] += mass * given[state]
    if count:
        for last in range(states + 1):
            part = ahead[states + 1 - last : 2 * states + 1 - last]
            for state in range(states):
                distance = min(max(state - last + 1, -JUMPS), JUMPS)
                jump_counts[distance + JUMPS] += pairs[last, state] * part[state]
    return log_likelihood


@numba.njit(nogil=True, cache=True)
def model1_posteriors(emission: np.ndarray, null: np.ndarray, p_null: float, result: np.ndarray) -> float:
    """Compute the posteriors of IBM Model 1: every state is as likely as any other.

    Arguments and result are those of `posteriors`.
    """
    words, states = emission.shape
    move = np.float32((1.0 - p_null) / states)
    stay = np.float32(p_null)
    log_likelihood = 0.0
    for word in range(words):
        total = stay * null[word]
        for state in range(states):
            total += move * emission[word, state]
        log_likelihood += np.log(total)
        inverse = move / total
        for state in range(states):
            result[word, state] = emission[word, state] * inverse
    return log_likelihood


@numba.njit(nogil=True, cache=True)
def fill_emissions(
    source: np.ndarray,
    target: np.ndarray,
    row_offsets: np.ndarray,
    columns: np.ndarray,
    probabilities: np.ndarray,
    floor: float,
    entries: np.ndarray,
    forward: np.ndarray,
    reverse: np.ndarray,
) -> None:
    """Look up one pair's words in the lexicon.

    Args:
        source: Source words, -1 for unknown.
        target: Target words, -1 for unknown.
        row_offsets: Of the lexicon.
        columns: Of the lexicon.
        probabilities: p(target | source) and p(source | target), float32 ``[entry, 2]``.
        floor: Probability of a pair of words that is not in the lexicon.
        entries: Receives the entry or -1, int64 ``[source word, target word]``.
        forward: Receives p(target | source), float32 ``[target word, source word]``.
        reverse: Receives p(source | target), float32 ``[source word, target word]``.
    """
    for i in range(len(source)):
        for j in range(len(target)):
            entry = -1
            if source[i] >= 0 and target[j] >= 0:
                entry = find_entry(row_offsets, columns, source[i], target[j])
            entries[i, j] = entry
            if entry >= 0:
                forward[j, i] = probabilities[entry, 0] + floor
                reverse[i, j] = probabilities[entry, 1] + floor
            else:
                forward[j, i] = floor
                reverse[i, j] = floor


@numba.njit(nogil=True, cache=True)
def expect(
    first: int,
    last: int,
    source: np.ndarray,
    source_offsets: np.ndarray,
    target: np.ndarray,
    target_offsets: np.ndarray,
    row_offsets: np.ndarray,
    columns: np.ndarray,
    probabilities: np.ndarray,
    null_target: np.ndarray,
    null_source: np.ndarray,
    jumps: np.ndarray,
    p_null: float,
    floor: float,
    counts: np.ndarray,
    jump_counts: np.ndarray,
) -> tuple[float, float]:
    """Add the expected counts of the pairs ``first`` to ``last - 1``.

    The count of a link is the product of both directions' posteriors (Liang, Taskar and Klein
    2006, section 3.2).
    """
    log_forward = 0.0
    log_reverse = 0.0
    none = np.empty(0, dtype=np.float64)
    markov = len(jumps) > 0
    for pair in range(first, last):
        words = source[source_offsets[pair] : source_offsets[pair + 1]]
        others = target[target_offsets[pair] : target_offsets[pair + 1]]
        if len(words) == 0 or len(others) == 0:
            continue
        entries = np.empty((len(words), len(others)), dtype=np.int64)
        forward = np.empty((len(others), len(words)), dtype=np.float32)
        reverse = np.empty((len(words), len(others)), dtype=np.float32)
        fill_emissions(
            words, others, row_offsets, columns, probabilities, floor, entries, forward, reverse
        )
        null_words = np.empty(len(words), dtype=np.float32)
        for i in range(len(words)):
            null_words[i] = null_source[words[i]] if words[i] >= 0 else floor
        null_others = np.empty(len(others), dtype=np.float32)
        for j in range(len(others)):
            null_others[j] = null_target[others[j]] if others[j] >= 0 else floor
        p_forward = np.empty_like(forward)
        p_reverse = np.empty_like(reverse)
        if markov:
            log_forward += posteriors(
                forward, null_others, jumps[0], p_null, p_forward, jump_counts[0]
            )
            log_reverse += posteriors(
                reverse, null_words, jumps[1], p_null, p_reverse, jump_counts[1]
            )
        else:
            log_forward += model1_posteriors(forward, null_others, p_null, p_forward)
            log_reverse += model1_posteriors(reverse, null_words, p_null, p_reverse)
        for i in range(len(words)):
            for j in range(len(others)):
                if entries[i, j] >= 0:
                    both = p_forward[j, i] * p_reverse[i, j]
                    counts[entries[i, j]] += np.int64(both * FIXED_POINT)
    return log_forward, log_reverse


@numba.njit(nogil=True, cache=True)
def align_pairs(
    source: np.ndarray,
    source_offsets: np.ndarray,
    target: np.ndarray,
    target_offsets: np.ndarray,
    row_offsets: np.ndarray,
    columns: np.ndarray,
    probabilities: np.ndarray,
    null_target: np.ndarray,
    null_source: np.ndarray,
    jumps: np.ndarray,
    p_null: float,
    floor: float,
    threshold: float,
    viterbi: bool,
) -> tuple[np.ndarray, ...]:
    """Link the words of pairs in both directions.

    Returns:
        For each direction: where each pair's links begin (int32), their source and target words
        (int16), sorted, and their posteriors (float32).
    """
    pairs = len(source_offsets) - 1
    none = np.empty(0, dtype=np.float64)
    begins = np.zeros((2, pairs + 1), dtype=np.int32)
    room = 1024
    ends = np.empty((2, 2, room), dtype=np.int16)
    values = np.empty((2, room), dtype=np.float32)
    used = np.zeros(2, dtype=np.int64)
    for pair in range(pairs):
        words = source[source_offsets[pair] : source_offsets[pair + 1]]
        others = target[target_offsets[pair] : target_offsets[pair + 1]]
        if len(words) > 0 and len(others) > 0:
            entries = np.empty((len(words), len(others)), dtype=np.int64)
            forward = np.empty((len(others), len(words)), dtype=np.float32)
            reverse = np.empty((len(words), len(others)), dtype=np.float32)
            fill_emissions(
                words, others, row_offsets, columns, probabilities, floor, entries, forward, reverse
            )
            null_words = np.empty(len(words), dtype=np.float32)
            for i in range(len(words)):
                null_words[i] = null_source[words[i]] if words[i] >= 0 else floor
            null_others = np.empty(len(others), dtype=np.float32)
            for j in range(len(others)):
                null_others[j] = null_target[others[j]] if others[j] >= 0 else floor
            p_forward = np.empty_like(forward)
            p_reverse = np.empty_like(reverse)
            posteriors(forward, null_others, jumps[0], p_null, p_forward, none)
            posteriors(reverse, null_words, jumps[1], p_null, p_reverse, none)
            need = max(used[0], used[1]) + len(words) * len(others)
            if need > room:
                while need > room:
                    room *= 2
                wider = np.empty((2, 2, room), dtype=np.int16)
                wider[:, :, : ends.shape[2]] = ends
                ends = wider
                more = np.empty((2, room), dtype=np.float32)
                more[:, : values.shape[1]] = values
                values = more
            for i in range(len(words)):
                for j in range(len(others)):
                    for direction in range(2):
                        chance = p_reverse[i, j] if direction else p_forward[j, i]
                        if chance >= threshold:
                            ends[direction, 0, used[direction]] = i
                            ends[direction, 1, used[direction]] = j
                            values[direction, used[direction]] = chance
                            used[direction] += 1
        begins[0, pair + 1] = used[0]
        begins[1, pair + 1] = used[1]
    return (
        begins[0].copy(),
        ends[0, 0, : used[0]].copy(),
        ends[0, 1, : used[0]].copy(),
        values[0, : used[0]].copy(),
        begins[1].copy(),
        ends[1, 0, : used[1]].copy(),
        ends[1, 1, : used[1]].copy(),
        values[1, : used[1]].copy(),
    )


def first_jumps() -> np.ndarray:
    """Return the jump weights to begin with: one word ahead is likeliest, float32."""
    distance = np.abs(np.arange(2 * JUMPS + 1) - JUMPS - 1)
    weights = np.exp(-distance / 4.0)
    return np.stack([weights, weights]).astype(np.float32)


def jump_weights(counts: np.ndarray) -> np.ndarray:
    """Return the jump weights of expected counts ``[chunk, direction, distance]``, float32."""
    totals = np.zeros(counts.shape[1:], dtype=np.float64)
    for part in counts:
        totals += part
    totals += 0.5
    return (totals / totals.sum(axis=1, keepdims=True)).astype(np.float32)
