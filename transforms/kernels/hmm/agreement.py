"""Two HMMs of one pair that agree: expected counts for training, links for use.

In training the count of a link is the product of both directions' posteriors (Liang, Taskar and
Klein 2006, section 3.2). In use each direction receives one message of the other's posteriors, as
in one round of belief propagation (Pearl 1988). Liang et al. multiply posteriors at the end
instead; here a link that both directions find likely also shifts its neighbours.
"""

from typing import Literal, NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.hmm.emissions import LEAST, MAX_STATES, emissions
from pairweave.transforms.kernels.hmm.hmm import (
    JumpCounts,
    best_path,
    independent_posteriors,
    lay_out,
    position_rows,
    posteriors,
    sum_of,
)
from pairweave.transforms.kernels.hmm.lexicon import Lexicon
from pairweave.transforms.kernels.hmm.model1 import FIXED_POINT
from pairweave.transforms.kernels.hmm.sides import Side, Words
from pairweave.transforms.kernels.integers import Integer

DOUBT = np.float32(0.1)
"""Smoothing of the odds that one direction sends to the other (results are flat up to 0.2)."""


COMMONEST = 20
"""A full stop is among so many commonest words of its side. Words are numbered by frequency."""


class Model(NamedTuple):
    """Both HMMs of a fitted aligner.

    Attributes:
        source_words: Statistics of the source words.
        target_words: Statistics of the target words.
        lexicon: The lexicon.
        jumps: Weights of jumps, float32 ``[direction, distance]``; ``[0, 0]`` for Model 1.
        source_factors: Factors of the weights of forward jumps after each source word, then after
            an unseen one and at the begin of the side, float32 ``[source word + 2, bucket]``.
        target_factors: The same of reverse jumps after each target word.
        p_null: Probability that a word has no partner.
        p_last: Probability that a common last word has the last state, whatever the jump, if that
            is common, too (`share_of_last`).
    """

    source_words: Words
    target_words: Words
    lexicon: Lexicon
    jumps: np.ndarray
    source_factors: np.ndarray
    target_factors: np.ndarray
    p_null: float
    p_last: float


class Counts(NamedTuple):
    """Expected counts of a round of training.

    Attributes:
        links: Links, in units of 1 / FIXED_POINT, int64 ``[entry]``.
        null_target: Target words without a partner, in the same units, int64 ``[target word]``.
        null_source: Source words without a partner, in the same units, int64 ``[source word]``.
        jumps: Jumps, float64 ``[direction, distance]``.
        after_source: Forward jumps after each source word, in the same units, int64
            ``[source word + 2, bucket]``, in the rows of `Model`.
        after_target: Reverse jumps after each target word, likewise.
    """

    links: np.ndarray
    null_target: np.ndarray
    null_source: np.ndarray
    jumps: np.ndarray
    after_source: np.ndarray
    after_target: np.ndarray


@numba.njit(nogil=True, cache=True)
def in_window(values: np.ndarray, low: np.ndarray, word: int, state: int) -> np.float32:
    """Return a value of a windowed matrix; 0 outside the window."""
    at = state - low[word]
    return values[word, at] if 0 <= at < values.shape[1] else np.float32(0.0)


@numba.njit(nogil=True, cache=True)
def share_of_last(source: Side, target: Side, pair: int, p_last: float) -> float:
    """Return the probability that the last word of a side has the last state, whatever the jump.

    It is ``p_last`` if both last words are among the commonest, as full stops are, else 0. In a
    pair with windows, which may end before the side does, it is 0 too.
    """
    end, back_end = source.offsets[pair + 1], target.offsets[pair + 1]
    if max(end - source.offsets[pair], back_end - target.offsets[pair]) > MAX_STATES:
        return 0.0
    one, other = source.words[end - 1], target.words[back_end - 1]
    return p_last if 0 <= one < COMMONEST and 0 <= other < COMMONEST else 0.0


@numba.njit(nogil=True, cache=True)
def expect(
    first: int, last: int, source: Side, target: Side, model: Model, expected: Counts
) -> tuple[float, float]:
    """Add the expected counts of the pairs ``first`` to ``last - 1``.

    Args:
        first: First pair.
        last: Pair after the last.
        source: The source side.
        target: The target side.
        model: Both HMMs.
        expected: Receives the counts.

    Returns:
        The logarithms of the likelihoods, forward and reverse.
    """
    source_words, target_words, lexicon, jumps, source_factors, target_factors, p_null, p_last = (
        model
    )
    counts, null_target_counts, null_source_counts, jump_counts, after_source, after_target = (
        expected
    )
    heads = np.full(len(target_words.mass), -1, dtype=np.int32)
    stem_heads = np.full(len(target_words.stem_mass), -1, dtype=np.int32)
    log_forward = 0.0
    log_reverse = 0.0
    for pair in range(first, last):
        states = source.offsets[pair + 1] - source.offsets[pair]
        words = target.offsets[pair + 1] - target.offsets[pair]
        if states == 0 or words == 0:
            continue
        forward, low, null, reverse, back_low, back_null, entries = emissions(
            source, target, pair, source_words, target_words, lexicon, heads, stem_heads
        )
        p_end = share_of_last(source, target, pair, p_last)
        p_forward = np.empty_like(forward)
        p_reverse = np.empty_like(reverse)
        if len(jumps) > 0:
            rows = position_rows(source, pair, forward.shape[1], source_factors)
            layout = lay_out(jumps[0], source_factors, rows, p_null)
            counted = JumpCounts(jump_counts[0], after_source, rows)
            log_forward += posteriors(forward, low, null, layout, p_null, p_end, p_forward, counted)
            rows = position_rows(target, pair, reverse.shape[1], target_factors)
            layout = lay_out(jumps[1], target_factors, rows, p_null)
            counted = JumpCounts(jump_counts[1], after_target, rows)
            log_reverse += posteriors(
                reverse, back_low, back_null, layout, p_null, p_end, p_reverse, counted
            )
        else:
            log_forward += independent_posteriors(forward, null, p_null, p_forward)
            log_reverse += independent_posteriors(reverse, back_null, p_null, p_reverse)
        for state in range(states):
            rest = np.float32(1.0)
            for at in range(p_reverse.shape[1]):
                rest -= p_reverse[state, at]
                entry = entries[state, at]
                if entry >= 0:
                    word = back_low[state] + at
                    both = p_reverse[state, at] * in_window(p_forward, low, word, state)
                    share = np.int64(both * FIXED_POINT)
                    # Nearly all are 0, and the memory of the counts is not near.
                    if share > 0:
                        counts[entry] += share
            number = source.words[source.offsets[pair] + state]
            if number >= 0 and rest > 0.0:
                null_source_counts[number] += np.int64(rest * FIXED_POINT)
        for word in range(words):
            rest = np.float32(1.0)
            for at in range(p_forward.shape[1]):
                rest -= p_forward[word, at]
            number = target.words[target.offsets[pair] + word]
            if number >= 0 and rest > 0.0:
                null_target_counts[number] += np.int64(rest * FIXED_POINT)
    return log_forward, log_reverse


# The division never is by 0: a check of each would keep loops from being vectorized.
@numba.njit(nogil=True, cache=True, error_model="numpy")
def odds_of(posteriors: np.ndarray) -> np.ndarray:
    """Return the smoothed odds ``(p + DOUBT) / (1 - p + DOUBT)`` of links, in the same layout."""
    odds = np.empty(posteriors.shape, dtype=np.float32)
    given, made = posteriors.reshape(-1), odds.reshape(-1)
    for at in range(len(given)):
        made[at] = (given[at] + DOUBT) / (np.float32(1.0) - given[at] + DOUBT)
    return odds


@numba.njit(nogil=True, cache=True)
def weigh(own: np.ndarray, low: np.ndarray, odds: np.ndarray, other_low: np.ndarray) -> np.ndarray:
    """Multiply the values of one direction by the odds that the other direction gives.

    Args:
        own: Posteriors or emissions, float32 ``[word, width]``.
        low: First state of each word's window ``[word]``.
        odds: From `odds_of`, float32 ``[state, other width]``.
        other_low: First word of each window of the other direction ``[state]``.

    Returns:
        float32 ``[word, width]``. Outside a window of the other direction, its posterior is 0.
    """
    words, width = own.shape
    weighed = np.empty((words, width), dtype=np.float32)
    if odds.shape == (width, words):
        for word in range(words):
            for at in range(width):
                weighed[word, at] = own[word, at] * odds[at, word]
        return weighed
    none = DOUBT / (np.float32(1.0) + DOUBT)
    for word in range(words):
        for at in range(width):
            state = low[word] + at
            seen = word - other_low[state]
            inside = 0 <= seen < odds.shape[1]
            weighed[word, at] = own[word, at] * (odds[state, seen] if inside else none)
    return weighed


@numba.njit(nogil=True, cache=True)
def combine_posteriors(
    own: np.ndarray, low: np.ndarray, odds: np.ndarray, other_low: np.ndarray
) -> np.ndarray:
    """Multiply each word's posteriors by the odds of the other direction and normalize them.

    The null state has odds of 1. Running the passes again on weighted emissions would give the same
    links at twice the cost. Arguments are those of `weigh`.

    Returns:
        The new posteriors, float32 ``[word, width]``.
    """
    combined = weigh(own, low, odds, other_low)
    words, width = own.shape
    given, made = own.reshape(-1), combined.reshape(-1)
    for word in range(words):
        first, last = word * width, (word + 1) * width
        nothing = np.float32(1.0) - sum_of(given, first, last)
        inverse = np.float32(1.0) / (sum_of(made, first, last) + max(nothing, LEAST))
        for at in range(width):
            combined[word, at] = min(combined[word, at] * inverse, np.float32(1.0))
    return combined


@numba.njit(nogil=True, cache=True)
def likely_places(
    chances: np.ndarray, threshold: float, rows: np.ndarray, columns: np.ndarray
) -> int:
    """Find the values of a matrix that reach a threshold, row by row; return their number.

    All places are written, one over the other; the place to write to moves on after a likely one.

    Args:
        chances: float32 ``[row, column]``.
        threshold: The minimum.
        rows: Receives the row of each, int32; with room for one more.
        columns: Receives the column of each, likewise.
    """
    used = np.uint64(0)
    for row in range(len(chances)):
        for column in range(chances.shape[1]):
            rows[used] = row
            columns[used] = column
            used += np.uint64(chances[row, column] >= threshold)
    return int(used)


@numba.njit(nogil=True, cache=True)
def path_places(path: np.ndarray, low: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> int:
    """Find the places of a path from `hmm.best_path`, as `likely_places` does."""
    used = 0
    for word in range(len(path)):
        if path[word] >= 0:
            rows[used] = word
            columns[used] = path[word] - low[word]
            used += 1
    return used


@numba.njit(nogil=True, cache=True)
def _with_capacity(
    ends: np.ndarray, values: np.ndarray, room: Integer
) -> tuple[np.ndarray, np.ndarray]:
    """Return the words and posteriors of links in longer arrays; copied as in `enlarged`.

    Args:
        ends: int16 ``[direction, side, link]``.
        values: float32 ``[direction, link]``.
        room: The new number of links.
    """
    wider = np.empty((2, 2, room), dtype=np.int16)
    more = np.empty((2, room), dtype=np.float32)
    for direction in range(2):
        for link in range(ends.shape[2]):
            wider[direction, 0, link] = ends[direction, 0, link]
            wider[direction, 1, link] = ends[direction, 1, link]
            more[direction, link] = values[direction, link]
    return wider, more


@numba.njit(nogil=True, cache=True)
def align_pairs(
    source: Side,
    target: Side,
    model: Model,
    threshold: float,
    viterbi: Literal[1] | None,
) -> tuple[np.ndarray, ...]:
    """Link the words of pairs in both directions.

    Args:
        source: The source side.
        target: The target side, of as many pairs.
        model: Both HMMs.
        threshold: Minimum posterior of a link.
        viterbi: 1 to link the words of the most probable path; None to link all above the
            threshold: Numba then compiles no code that finds paths.

    Returns:
        For each direction: the start of each pair's links (int32), their source and target words
        (int16), sorted, and their posteriors (float32).
    """
    source_words, target_words, lexicon, jumps, source_factors, target_factors, p_null, p_last = (
        model
    )
    pairs = len(source.offsets) - 1
    heads = np.full(len(target_words.mass), -1, dtype=np.int32)
    stem_heads = np.full(len(target_words.stem_mass), -1, dtype=np.int32)
    none = np.empty(0, dtype=np.float64)
    nothing = np.empty((0, 0), dtype=np.int64)
    begins = np.zeros((2, pairs + 1), dtype=np.int32)
    room = 1024
    ends = np.empty((2, 2, room), dtype=np.int16)
    values = np.empty((2, room), dtype=np.float32)
    used = np.zeros(2, dtype=np.int64)
    for pair in range(pairs):
        states = source.offsets[pair + 1] - source.offsets[pair]
        words = target.offsets[pair + 1] - target.offsets[pair]
        if states > 0 and words > 0:
            forward, low, null, reverse, back_low, back_null, _ = emissions(
                source, target, pair, source_words, target_words, lexicon, heads, stem_heads
            )
            p_end = share_of_last(source, target, pair, p_last)
            p_forward = np.empty_like(forward)
            p_reverse = np.empty_like(reverse)
            rows = position_rows(source, pair, forward.shape[1], source_factors)
            layout = lay_out(jumps[0], source_factors, rows, p_null)
            uncounted = JumpCounts(none, nothing, rows)
            posteriors(forward, low, null, layout, p_null, p_end, p_forward, uncounted)
            rows = position_rows(target, pair, reverse.shape[1], target_factors)
            back_layout = lay_out(jumps[1], target_factors, rows, p_null)
            uncounted = JumpCounts(none, nothing, rows)
            posteriors(
                reverse, back_low, back_null, back_layout, p_null, p_end, p_reverse, uncounted
            )
            # At most 1 / threshold states of a word reach the threshold.
            width = max(forward.shape[1], reverse.shape[1])
            most = max(words, states) * min(np.int64(1.0 / threshold) + 1, width)
            need = max(used[0], used[1]) + most
            if need > room:
                while need > room:
                    room *= 2
                ends, values = _with_capacity(ends, values, room)
            odds, back_odds = odds_of(p_reverse), odds_of(p_forward)
            likely = combine_posteriors(p_forward, low, odds, back_low)
            back_likely = combine_posteriors(p_reverse, back_low, back_odds, low)
            rows = np.empty(most + 1, dtype=np.int32)
            columns = np.empty_like(rows)
            if viterbi is not None:
                weighed = weigh(forward, low, odds, back_low)
                path = best_path(weighed, low, null, layout, p_null, p_end)
                links = path_places(path, low, rows, columns)
            else:
                links = likely_places(likely, threshold, rows, columns)
            # Sorted by source word, then by target word: counted, then put in their order.
            next_link = np.zeros(states + 1, dtype=np.int32)
            for link in range(links):
                next_link[low[rows[link]] + columns[link] + 1] += 1
            for state in range(states):
                next_link[state + 1] += next_link[state]
            for link in range(links):
                word, at = rows[link], columns[link]
                state = low[word] + at
                place = used[0] + next_link[state]
                next_link[state] += 1
                ends[0, 0, place] = state
                ends[0, 1, place] = word
                values[0, place] = likely[word, at]
            used[0] += links
            if viterbi is not None:
                weighed = weigh(reverse, back_low, back_odds, low)
                path = best_path(weighed, back_low, back_null, back_layout, p_null, p_end)
                links = path_places(path, back_low, rows, columns)
            else:
                links = likely_places(back_likely, threshold, rows, columns)
            for link in range(links):
                state, at = rows[link], columns[link]
                ends[1, 0, used[1]] = state
                ends[1, 1, used[1]] = back_low[state] + at
                values[1, used[1]] = back_likely[state, at]
                used[1] += 1
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
