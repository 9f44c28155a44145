"""Two HMMs of one pair that agree: expected counts for training, links for use.

In training the count of a link is the product of both directions' posteriors (Liang, Taskar and
Klein 2006, section 3.2). In use each direction receives one message of the other's posteriors, as
in one round of belief propagation (Pearl 1988). Liang et al. multiply posteriors at the end
instead; here a link that both directions find likely also shifts its neighbours.
"""

from typing import Literal, NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.hmm.emissions import (
    MAX_STATES,
    MIN_PROBABILITY,
    Emission,
    emissions,
    heads_of,
)
from pairweave.transforms.kernels.hmm.hmm import (
    JumpCounts,
    best_path,
    independent_posteriors,
    lay_out,
    no_jump_counts,
    position_rows,
    posteriors,
)
from pairweave.transforms.kernels.hmm.lexicon import Lexicon
from pairweave.transforms.kernels.hmm.model1 import FIXED_POINT
from pairweave.transforms.kernels.hmm.sides import Side, Words
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.matrices import transpose
from pairweave.transforms.kernels.scratch import (
    Scratch,
    lent,
    take,
    take_rows,
    take_zero_rows,
    take_zeros,
)
from pairweave.transforms.kernels.uncounted import uncounted
from pairweave.transforms.kernels.vectors import (
    LANES,
    any_reaches,
    greatest,
    least,
    load,
    prefetch,
    spread,
    store,
)

DOUBT = np.float32(0.1)
"""Smoothing of the odds that one direction sends to the other (results are flat up to 0.2)."""

COMMONEST = 20
"""A full stop is among this many commonest words of its side. Words are numbered by frequency."""

_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)


class Model(NamedTuple):
    """Both HMMs of a fitted aligner.

    Attributes:
        source_words: Statistics of the source words.
        target_words: Statistics of the target words.
        lexicon: The lexicon.
        jumps: Weights of jumps, float32 ``[direction, distance]``; ``[0, 0]`` for Model 1.
        source_factors: Factors of the weights of forward jumps after each source word, then after
            an unseen one and at the beginning of the side, float32 ``[source word + 2, bucket]``.
        target_factors: The same of reverse jumps after each target word.
        p_null: Probability that a word has no partner.
        p_last: Probability that a common last word has the last state, regardless of the jump, if
            that is common, too (`share_of_last`).
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
        after_target: Reverse jumps after each target word, in the same form.
    """

    links: np.ndarray
    null_target: np.ndarray
    null_source: np.ndarray
    jumps: np.ndarray
    after_source: np.ndarray
    after_target: np.ndarray


@uncounted
def in_window(values: np.ndarray, low: np.ndarray, word: int, state: int) -> np.float32:
    """Return a value of a windowed matrix; 0 outside the window."""
    at = state - low[word]
    return values[word, at] if 0 <= at < values.shape[1] else np.float32(0.0)


@numba.njit(nogil=True, cache=True)
def beside_reverse(
    p_forward: np.ndarray, forward: Emission, reverse: Emission, scratch: Scratch
) -> np.ndarray:
    """Return the posteriors of the forward direction in the layout of the reverse one.

    Args:
        p_forward: Posteriors, float32 ``[target word, place in its window]``, padded.
        forward: Emissions of the target words.
        reverse: Emissions of the source words.
        scratch: Memory for arrays.

    Returns:
        float32 ``[source word, place in its window]``, padded; 0 outside the forward windows.
    """
    given = take_zero_rows(scratch, np.float32, reverse.values.shape[0], reverse.values.shape[1])
    low, back_low = forward.low, reverse.low
    if forward.width == len(back_low) and reverse.width == len(low):
        transpose(p_forward, given)
        return given
    for state in range(len(back_low)):
        for at in range(reverse.width):
            given[state, at] = in_window(p_forward, low, back_low[state] + at, state)
    return given


@uncounted
def share_of_last(source: Side, target: Side, pair: int, p_last: float) -> float:
    """Return the probability that the last word of a side has the last state for any jump.

    It is ``p_last`` if both last words are among the commonest, as full stops are, else 0. In a
    pair with windows, which may end before the side does, it is 0 too.
    """
    end, back_end = source.offsets[pair + 1], target.offsets[pair + 1]
    if max(end - source.offsets[pair], back_end - target.offsets[pair]) > MAX_STATES:
        return 0.0
    one, other = source.words[end - 1], target.words[back_end - 1]
    return p_last if 0 <= one < COMMONEST and 0 <= other < COMMONEST else 0.0


@numba.njit(nogil=True, cache=True)
def rest_of(posteriors: np.ndarray, emission: Emission, scratch: Scratch) -> np.ndarray:
    """Return the probability that each word has no partner, float32 ``[word]``, padded.

    Args:
        posteriors: Probabilities of the links, float32 ``[word, state]``, padded.
        emission: Emissions of the words.
        scratch: Memory for arrays.
    """
    # Eight words at once: a sum over the states of one word cannot be a vector.
    turned = take_rows(scratch, np.float32, posteriors.shape[1], posteriors.shape[0])
    transpose(posteriors, turned)
    columns = turned.shape[1]
    rest = take(scratch, np.float32, columns)
    for word in range(0, columns, LANES):
        left = spread(_ONE)
        for state in range(emission.width):
            left = left - load(turned, state * columns + word)
        store(rest, word, left)
    return rest


@numba.njit(nogil=True, cache=True)
def count_links(
    both: np.ndarray,
    reverse: np.ndarray,
    entries: np.ndarray,
    counts: np.ndarray,
    scratch: Scratch,
) -> None:
    """Add the expected links of a pair to the counts of its entries.

    Args:
        both: Posteriors of the forward direction, from `beside_reverse`; receives some products.
        reverse: Posteriors of the reverse direction, in the same layout.
        entries: Entries of the lexicon, -1 for none, int64 ``[source word, place in its window]``.
        counts: Receives the links, in units of 1 / FIXED_POINT, int64 ``[entry]``.
        scratch: Memory for arrays.
    """
    states, words = entries.shape
    columns = both.shape[1]
    unit = spread(np.float32(1.0 / FIXED_POINT))
    linked = take(scratch, np.int64, states * words + 1)
    shares = take(scratch, np.int64, states * words + 1)
    used = np.uint64(0)
    for state in range(states):
        for first in range(0, columns, LANES):
            product = load(reverse, state * columns + first) * load(both, state * columns + first)
            # Nearly all are less than a unit.
            if any_reaches(product, unit):
                store(both, state * columns + first, product)
                for word in range(first, min(first + LANES, words)):
                    entry = entries[state, word]
                    share = np.int64(both[state, word] * FIXED_POINT)
                    linked[used], shares[used] = entry, share
                    used += np.uint64(entry >= 0 and share > 0)
                    prefetch(counts, max(entry, 0))
    # All at once, since the counts are far apart in memory.
    for at in range(used):
        counts[np.uint64(linked[at])] += shares[at]


@numba.njit(nogil=True, cache=True)
def expect(
    first: int,
    last: int,
    source: Side,
    target: Side,
    model: Model,
    expected: Counts,
    scratch: Scratch,
) -> tuple[float, float]:
    """Add the expected counts of the pairs ``first`` to ``last - 1``.

    Args:
        first: First pair.
        last: Pair after the last.
        source: The source side.
        target: The target side.
        model: Both HMMs.
        expected: Receives the counts.
        scratch: Memory for arrays; lost.

    Returns:
        The logarithms of the likelihoods, forward and reverse.
    """
    source, target, model = lent(source), lent(target), lent(model)
    expected, scratch = lent(expected), lent(scratch)
    source_words, target_words, lexicon, jumps, source_factors, target_factors, p_null, p_last = (
        model
    )
    counts, null_target_counts, null_source_counts, jump_counts, after_source, after_target = (
        expected
    )
    heads = heads_of(target_words)
    log_forward = 0.0
    log_reverse = 0.0
    for pair in range(first, last):
        scratch.used[0] = 0
        states = source.offsets[pair + 1] - source.offsets[pair]
        words = target.offsets[pair + 1] - target.offsets[pair]
        if states == 0 or words == 0:
            continue
        forward, reverse, entries = emissions(
            source, target, pair, source_words, target_words, lexicon, heads, scratch
        )
        p_end = share_of_last(source, target, pair, p_last)
        p_forward = take_zero_rows(
            scratch, np.float32, forward.values.shape[0], forward.values.shape[1]
        )
        p_reverse = take_zero_rows(
            scratch, np.float32, reverse.values.shape[0], reverse.values.shape[1]
        )
        if len(jumps) > 0:
            rows = position_rows(source, pair, forward.width, source_factors, scratch)
            layout = lay_out(jumps[0], source_factors, rows, p_null, scratch)
            counted = JumpCounts(jump_counts[0], after_source, rows)
            log_forward += posteriors(forward, layout, p_null, p_end, p_forward, counted, scratch)
            rows = position_rows(target, pair, reverse.width, target_factors, scratch)
            layout = lay_out(jumps[1], target_factors, rows, p_null, scratch)
            counted = JumpCounts(jump_counts[1], after_target, rows)
            log_reverse += posteriors(reverse, layout, p_null, p_end, p_reverse, counted, scratch)
        else:
            log_forward += independent_posteriors(forward, p_null, p_forward)
            log_reverse += independent_posteriors(reverse, p_null, p_reverse)
        rest, back_rest = rest_of(p_forward, forward, scratch), rest_of(p_reverse, reverse, scratch)
        count_links(
            beside_reverse(p_forward, forward, reverse, scratch),
            p_reverse,
            entries,
            counts,
            scratch,
        )
        for state in range(states):
            number = source.words[source.offsets[pair] + state]
            if number >= 0 and back_rest[state] > 0.0:
                null_source_counts[number] += np.int64(back_rest[state] * FIXED_POINT)
        for word in range(words):
            number = target.words[target.offsets[pair] + word]
            if number >= 0 and rest[word] > 0.0:
                null_target_counts[number] += np.int64(rest[word] * FIXED_POINT)
    return log_forward, log_reverse


@numba.njit(nogil=True, cache=True)
def odds_of(posteriors: np.ndarray, scratch: Scratch) -> np.ndarray:
    """Return the smoothed odds ``(p + DOUBT) / (1 - p + DOUBT)`` of links.

    Args:
        posteriors: float32, padded rows and columns.
        scratch: Memory for arrays.
    """
    odds = take_rows(scratch, np.float32, posteriors.shape[0], posteriors.shape[1])
    doubt, one = spread(DOUBT), spread(_ONE)
    for at in range(0, odds.size, LANES):
        given = load(posteriors, at)
        store(odds, at, (given + doubt) / (one - given + doubt))
    return odds


@numba.njit(nogil=True, cache=True)
def weigh(
    own: np.ndarray,
    low: np.ndarray,
    width: int,
    odds: np.ndarray,
    other_low: np.ndarray,
    other_width: int,
    scratch: Scratch,
) -> np.ndarray:
    """Multiply the values of one direction by the odds that the other direction gives.

    Args:
        own: Posteriors or emissions, float32 ``[word, state]``, padded.
        low: First state of each word's window ``[word]``.
        width: States in a window.
        odds: From `odds_of`, float32 ``[state, word]``.
        other_low: First word of each window of the other direction ``[state]``.
        other_width: Words in a window of the other direction.
        scratch: Memory for arrays.

    Returns:
        float32, in the shape of ``own``. Outside a window of the other direction, its posterior is
        0.
    """
    weighed = take_zero_rows(scratch, np.float32, own.shape[0], own.shape[1])
    none = DOUBT / (_ONE + DOUBT)
    for word in range(len(low)):
        for at in range(width):
            state = low[word] + at
            seen = word - other_low[state]
            inside = 0 <= seen < other_width
            weighed[word, at] = own[word, at] * (odds[state, seen] if inside else none)
    return weighed


@numba.njit(nogil=True, cache=True)
def combine_windows(
    weighed: np.ndarray, own: np.ndarray, words: int, width: int, scratch: Scratch
) -> None:
    """Normalize posteriors that have been multiplied by odds, as `combine_posteriors` does.

    Args:
        weighed: Posteriors times odds, from `weigh`; receives the new posteriors.
        own: The posteriors, float32 ``[word, state]``.
        words: Number of words.
        width: States in a window.
        scratch: Memory for arrays.
    """
    sums, made = take_zeros(scratch, np.float32, 4), take_zeros(scratch, np.float32, 4)
    whole = width // 4 * 4
    for word in range(words):
        sums[:] = 0.0
        made[:] = 0.0
        for at in range(width):
            part = at % 4 if at < whole else 0
            sums[part] += own[word, at]
            made[part] += weighed[word, at]
        nothing = _ONE - ((sums[0] + sums[1]) + (sums[2] + sums[3]))
        total = ((made[0] + made[1]) + (made[2] + made[3])) + max(nothing, MIN_PROBABILITY)
        inverse = _ONE / total
        for at in range(width):
            weighed[word, at] = min(weighed[word, at] * inverse, _ONE)


@numba.njit(nogil=True, cache=True)
def combine_posteriors(
    own: np.ndarray, odds: np.ndarray, states: int, scratch: Scratch
) -> np.ndarray:
    """Multiply each word's posteriors by the odds of the other direction and normalize them.

    The null state has odds of 1. Running the passes again on weighted emissions would give the same
    links at twice the cost. Eight words are computed at once.

    Args:
        own: Posteriors, float32 ``[word, state]``, padded; all states are in the window.
        odds: From `odds_of`, float32 ``[state, word]``, padded.
        states: Number of states.
        scratch: Memory for arrays.

    Returns:
        The new posteriors, float32 ``[state, word]``, padded; rows of the padding are undefined.
    """
    given = take_rows(scratch, np.float32, odds.shape[0], odds.shape[1])
    transpose(own, given)
    combined = take_rows(scratch, np.float32, odds.shape[0], odds.shape[1])
    columns = odds.shape[1]
    one, floor = spread(_ONE), spread(MIN_PROBABILITY)
    for word in range(0, columns, LANES):
        # Four partial sums, each of every fourth state; those that are left over are in the first.
        a = b = c = d = spread(_ZERO)
        e = f = g = h = spread(_ZERO)
        whole = states // 4 * 4
        for state in range(0, whole, 4):
            at = state * columns + word
            own_a = load(given, at)
            own_b = load(given, at + columns)
            own_c = load(given, at + 2 * columns)
            own_d = load(given, at + 3 * columns)
            made_a = own_a * load(odds, at)
            made_b = own_b * load(odds, at + columns)
            made_c = own_c * load(odds, at + 2 * columns)
            made_d = own_d * load(odds, at + 3 * columns)
            a, b, c, d = a + own_a, b + own_b, c + own_c, d + own_d
            e, f, g, h = e + made_a, f + made_b, g + made_c, h + made_d
            store(combined, at, made_a)
            store(combined, at + columns, made_b)
            store(combined, at + 2 * columns, made_c)
            store(combined, at + 3 * columns, made_d)
        for state in range(whole, states):
            at = state * columns + word
            own_a = load(given, at)
            made_a = own_a * load(odds, at)
            a, e = a + own_a, e + made_a
            store(combined, at, made_a)
        nothing = one - ((a + b) + (c + d))
        inverse = one / (((e + f) + (g + h)) + greatest(nothing, floor))
        for state in range(states):
            at = state * columns + word
            store(combined, at, least(load(combined, at) * inverse, one))
    return combined


@uncounted
def likely_places(
    chances: np.ndarray, count: int, threshold: float, rows: np.ndarray, columns: np.ndarray
) -> int:
    """Find the values of a matrix that reach a threshold, row by row; return their number.

    All places of a vector with such a value are written, one over the other; the place to write to
    moves on after a likely one.

    Args:
        chances: float32 ``[row, column]``, padded.
        count: Number of rows.
        threshold: The minimum, above 0.
        rows: Receives the row of each, int32; with room for one more.
        columns: Receives the column of each, int32; as long as ``rows``.
    """
    limit = np.float32(threshold)
    if limit < threshold:
        limit = np.nextafter(limit, _ONE)
    limits = spread(limit)
    width = chances.shape[1]
    used = np.uint64(0)
    for row in range(count):
        for first in range(0, width, LANES):
            if any_reaches(load(chances, row * width + first), limits):
                for column in range(first, first + LANES):
                    rows[used] = row
                    columns[used] = column
                    used += np.uint64(chances[row, column] >= limit)
    return int(used)


@uncounted
def path_places(path: np.ndarray, words: np.ndarray, states: np.ndarray) -> int:
    """List the words of a path from `hmm.best_path` that have a state, and these states."""
    used = 0
    for word in range(len(path)):
        if path[word] >= 0:
            words[used] = word
            states[used] = path[word]
            used += 1
    return used


@numba.njit(nogil=True, cache=True)
def link_words(
    emission: Emission,
    other: Emission,
    given: tuple[np.ndarray, np.ndarray],
    jumps: tuple[np.ndarray, np.ndarray, np.ndarray],
    chances: tuple[float, float],
    threshold: float,
    viterbi: Literal[1] | None,
    scratch: Scratch,
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """List the links of one direction of a pair.

    Args:
        emission: Emissions of the words.
        other: Emissions of the other direction, for its windows.
        given: Posteriors of this direction, and odds of the other.
        jumps: Weights of the jumps, their factors and rows, as for `lay_out`.
        chances: Probabilities of the null state and of the last state, as for `best_path`.
        threshold: Minimum posterior of a link.
        viterbi: As for `align_pairs`.
        scratch: Memory for arrays.

    Returns:
        The number of links, and the word (int32), the state (int32) and the posterior (float32) of
        each; the arrays may be longer.
    """
    own, odds = given
    low, width = emission.low, emission.width
    # At most 1 / threshold states of a word reach the threshold; a path has one state a word.
    most = len(low) * min(int(1.0 / threshold) + 1, width) + 1
    words = take(scratch, np.int32, most)
    states = take(scratch, np.int32, most)
    values = take(scratch, np.float32, most)
    whole = width == len(other.low) and other.width == len(low)
    if whole:
        likely = combine_posteriors(own, odds, width, scratch)
    else:
        likely = weigh(own, low, width, odds, other.low, other.width, scratch)
        combine_windows(likely, own, len(low), width, scratch)
    if viterbi is not None:
        weighed = weigh(emission.values, low, width, odds, other.low, other.width, scratch)
        layout = lay_out(jumps[0], jumps[1], jumps[2], chances[0], scratch)
        path = best_path(Emission(weighed, emission.null, low, width), layout, *chances)
        links = path_places(path, words, states)
    elif whole:
        links = likely_places(likely, width, threshold, states, words)
    else:
        links = likely_places(likely, len(low), threshold, words, states)
        for link in range(links):
            states[link] += low[words[link]]
    for link in range(links):
        word, state = words[link], states[link]
        values[link] = likely[state, word] if whole else likely[word, state - low[word]]
    return links, words, states, values


@uncounted
def sort_links(
    places: tuple[np.ndarray, np.ndarray, np.ndarray],
    links: int,
    following: np.ndarray,
    direction: int,
    ends: np.ndarray,
    values: np.ndarray,
    first: int,
) -> None:
    """Append a pair's links, sorted by source word; a source word's links keep their order.

    Args:
        places: Source word, target word and posterior of each link.
        links: Number of links.
        following: Scratch: a zero for each source word and one more, int32.
        direction: The direction.
        ends: Receives the words, int16 ``[direction, side, link]``.
        values: Receives the posteriors, float32 ``[direction, link]``.
        first: Where to put the first link.
    """
    sources, targets, chances = places
    for link in range(links):
        following[sources[link] + 1] += 1
    for source in range(len(following) - 1):
        following[source + 1] += following[source]
    for link in range(links):
        source = sources[link]
        at = first + following[source]
        following[source] += 1
        ends[direction, 0, at] = source
        ends[direction, 1, at] = targets[link]
        values[direction, at] = chances[link]


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
    scratch: Scratch,
) -> tuple[np.ndarray, ...]:
    """Link the words of pairs in both directions.

    Args:
        source: The source side.
        target: The target side, of the same number of pairs.
        model: Both HMMs.
        threshold: Minimum posterior of a link.
        viterbi: 1 to link the words of the most probable path; None to link all above the
            threshold: Numba then compiles no code that finds paths.
        scratch: Memory for arrays; lost.

    Returns:
        For each direction: the start of each pair's links (int32), their source and target words
        (int16), sorted, and their posteriors (float32).
    """
    source, target, model, scratch = lent(source), lent(target), lent(model), lent(scratch)
    source_words, target_words, lexicon, jumps, source_factors, target_factors, p_null, p_last = (
        model
    )
    pairs = len(source.offsets) - 1
    heads = heads_of(target_words)
    begins = np.zeros((2, pairs + 1), dtype=np.int32)
    room = 1024
    ends = np.empty((2, 2, room), dtype=np.int16)
    values = np.empty((2, room), dtype=np.float32)
    used = np.zeros(2, dtype=np.int64)
    for pair in range(pairs):
        scratch.used[0] = 0
        states = source.offsets[pair + 1] - source.offsets[pair]
        words = target.offsets[pair + 1] - target.offsets[pair]
        if states > 0 and words > 0:
            forward, reverse, _ = emissions(
                source, target, pair, source_words, target_words, lexicon, heads, scratch
            )
            p_end = share_of_last(source, target, pair, p_last)
            p_forward = take_zero_rows(
                scratch, np.float32, forward.values.shape[0], forward.values.shape[1]
            )
            p_reverse = take_zero_rows(
                scratch, np.float32, reverse.values.shape[0], reverse.values.shape[1]
            )
            rows = position_rows(source, pair, forward.width, source_factors, scratch)
            layout = lay_out(jumps[0], source_factors, rows, p_null, scratch)
            uncounted = no_jump_counts(scratch)
            posteriors(forward, layout, p_null, p_end, p_forward, uncounted, scratch)
            back_rows = position_rows(target, pair, reverse.width, target_factors, scratch)
            layout = lay_out(jumps[1], target_factors, back_rows, p_null, scratch)
            posteriors(reverse, layout, p_null, p_end, p_reverse, uncounted, scratch)
            given = p_forward, odds_of(p_reverse, scratch)
            back_given = p_reverse, odds_of(p_forward, scratch)
            of_forward = jumps[0], source_factors, rows
            of_reverse = jumps[1], target_factors, back_rows
            links, targets, sources, chances = link_words(
                forward, reverse, given, of_forward, (p_null, p_end), threshold, viterbi, scratch
            )
            of_null = p_null, p_end
            back_links, back_sources, back_targets, back_chances = link_words(
                reverse, forward, back_given, of_reverse, of_null, threshold, viterbi, scratch
            )
            need = max(used[0] + links, used[1] + back_links)
            if need > room:
                while need > room:
                    room *= 2
                ends, values = _with_capacity(ends, values, room)
            places = sources, targets, chances
            following = take_zeros(scratch, np.int32, states + 1)
            sort_links(places, links, following, 0, ends, values, used[0])
            used[0] += links
            places = back_sources, back_targets, back_chances
            following = take_zeros(scratch, np.int32, states + 1)
            sort_links(places, back_links, following, 1, ends, values, used[1])
            used[1] += back_links
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
