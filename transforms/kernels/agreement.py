"""Two HMMs of one pair that agree: expected counts for training, links for use.

In training the count of a link is the product of both directions' posteriors (Liang, Taskar and
Klein 2006, section 3.2). In use each direction hears once what the other believes of each link,
as one round of belief propagation does (Pearl 1988): unlike Liang et al., who multiply posteriors
at the end, so that a link both find likely also shifts its neighbours.
"""

from typing import NamedTuple

import numba
import numpy as np

from transforms.kernels.hmm import best_path, independent_posteriors, lay_out, posteriors
from transforms.kernels.model1 import FIXED_POINT, Words, back_off, find_entry, lead_of
from transforms.kernels.similarity import MOST_LETTERS, bits_set, letter_bag, likeness

MOST_STATES = 256
"""Pairs with more words on a side see a window of this many round the diagonal."""

DOUBT = np.float32(0.1)
"""What is added to both sides of the odds that one direction tells the other (flat to 0.2)."""

LONG_ROW = 16
"""A row that has more entries than this for each word of the other side is searched, not read."""

LEAST = np.float32(1e-30)
"""Keeps every probability above 0."""


class Side(NamedTuple):
    """One side of some pairs.

    Attributes:
        offsets: Where each pair's tokens begin, int64 ``[pair + 1]``.
        words: Word of each token as `transforms.kernels.words.look_up` numbers it, int32.
        letter_offsets: Where each token's letters begin, int64 ``[token + 1]``; or ``[1]`` where
            letters do not matter.
        letters: Folded code points, int32.
    """

    offsets: np.ndarray
    words: np.ndarray
    letter_offsets: np.ndarray
    letters: np.ndarray


class Tokens(NamedTuple):
    """The tokens of one side of one pair: arrays ``[token]``.

    Attributes:
        start: The first token's number on its side.
        word: As in `Side`.
        stem: Stem, -1 for an unseen one.
        lead: Weight of the back-off, from `lead_of`.
        share: Probability of the word given its stem.
        unigram: Probability of the word.
        null: Probability of the word given nothing.
        bag: Set of its letters; 0 where letters do not matter.
    """

    start: int
    word: np.ndarray
    stem: np.ndarray
    lead: np.ndarray
    share: np.ndarray
    unigram: np.ndarray
    null: np.ndarray
    bag: np.ndarray


class Lexicon(NamedTuple):
    """What pairs of words, and pairs of stems, say.

    Attributes:
        row_offsets: Where each source word's entries begin, int64.
        columns: Target words, sorted in each row, int32 ``[entry]``.
        probabilities: p(target | source) and p(source | target), float32 ``[entry, 2]``.
        stem_offsets: Where each source stem's entries begin, int64.
        stem_columns: Target stems, sorted in each row, int32 ``[stem entry]``.
        stem_counts: Expected links, float32 ``[stem entry]``.
    """

    row_offsets: np.ndarray
    columns: np.ndarray
    probabilities: np.ndarray
    stem_offsets: np.ndarray
    stem_columns: np.ndarray
    stem_counts: np.ndarray


@numba.njit(nogil=True, cache=True)
def describe(side: Side, pair: int, words: Words) -> Tokens:
    """Return what is known of each token of one side of a pair."""
    start = side.offsets[pair]
    length = side.offsets[pair + 1] - start
    word = side.words[start : start + length]
    stem = np.empty(length, dtype=np.int32)
    lead = np.empty(length, dtype=np.float32)
    share = np.empty(length, dtype=np.float32)
    unigram = np.empty(length, dtype=np.float32)
    null = np.empty(length, dtype=np.float32)
    bag = np.zeros(length, dtype=np.uint64)
    lettered = len(side.letter_offsets) > 1
    for at in range(length):
        number = word[at]
        if number >= 0:
            stem[at] = words.stem[number]
            lead[at] = lead_of(words, words.mass[number], stem[at])
            share[at] = words.share[number]
        else:
            number = len(words.mass) - 1
            stem[at] = -2 - word[at] if word[at] < -1 else -1
            lead[at] = lead_of(words, np.float32(0.0), stem[at])
            share[at] = words.stem_share[stem[at]]
        unigram[at] = words.unigram[number]
        null[at] = words.null[number]
        if lettered:
            bag[at] = letter_bag(
                side.letters, side.letter_offsets[start + at], side.letter_offsets[start + at + 1]
            )
    return Tokens(start, word, stem, lead, share, unigram, null, bag)


@numba.njit(nogil=True, cache=True)
def chain(numbers: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """Link the places of equal numbers, so that a number leads to all its places.

    Args:
        numbers: Words or stems, negative for none, int32 ``[place]``.
        heads: -1 everywhere; receives the first place of each number, int32.

    Returns:
        The next place with the same number, -1 for none, int32 ``[place]``.
    """
    following = np.empty(len(numbers), dtype=np.int32)
    for place in range(len(numbers) - 1, -1, -1):
        following[place] = -1
        if numbers[place] >= 0:
            following[place] = heads[numbers[place]]
            heads[numbers[place]] = place
    return following


@numba.njit(nogil=True, cache=True)
def find_row(
    offsets: np.ndarray,
    columns: np.ndarray,
    row: int,
    numbers: np.ndarray,
    heads: np.ndarray,
    following: np.ndarray,
    entries: np.ndarray,
) -> None:
    """Find a row's entries for all words of the other side.

    Args:
        offsets: Row offsets of a lexicon.
        columns: Its columns.
        row: The row, or -1 for none.
        numbers: Columns wanted, negative for none, int32 ``[place]``.
        heads: From `chain` of ``numbers``.
        following: From `chain` of ``numbers``.
        entries: Receives the entry of each place, -1 for none, int64 ``[place]``.
    """
    entries[:] = -1
    if row < 0:
        return
    first = offsets[row]
    last = offsets[row + 1]
    if last - first > LONG_ROW * len(numbers):
        for place in range(len(numbers)):
            if numbers[place] >= 0:
                entries[place] = find_entry(offsets, columns, row, numbers[place])
        return
    for entry in range(first, last):
        place = heads[columns[entry]]
        while place >= 0:
            entries[place] = entry
            place = following[place]


@numba.njit(nogil=True, cache=True)
def window(words: int, states: int) -> tuple[int, np.ndarray]:
    """Return the width of the windows and the first state of each word's, int32 ``[word]``.

    All states, if neither side has more than `MOST_STATES` words; else a band round the diagonal.
    """
    low = np.zeros(words, dtype=np.int32)
    width = states
    if max(words, states) > MOST_STATES:
        width = min(states, MOST_STATES)
        for word in range(words):
            centre = (2 * word + 1) * states // (2 * words)
            low[word] = min(max(centre - width // 2, 0), states - width)
    return width, low


@numba.njit(nogil=True, cache=True)
def emissions(
    source: Side,
    target: Side,
    pair: int,
    source_words: Words,
    target_words: Words,
    lexicon: Lexicon,
    heads: np.ndarray,
    stem_heads: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """Compute what the words of a pair say of each other.

    Args:
        source: The source side.
        target: The target side.
        pair: The pair.
        source_words: What is known of the source words.
        target_words: What is known of the target words.
        lexicon: The lexicon.
        heads: -1 for each target word, int32; is left so.
        stem_heads: -1 for each target stem, int32; is left so.

    Returns:
        Forward and reverse, for each: emission ``[word, width]``, first state of the window, and
        probability given nothing; then the lexicon's entries, int64 ``[source word, width of the
        reverse]``, -1 for none.
    """
    ours = describe(source, pair, source_words)
    theirs = describe(target, pair, target_words)
    words = len(theirs.word)
    states = len(ours.word)
    width, low = window(words, states)
    back_width, back_low = window(states, words)
    forward = np.full((words, width), LEAST, dtype=np.float32)
    reverse = np.empty((states, back_width), dtype=np.float32)
    entries = np.empty((states, back_width), dtype=np.int64)
    following = chain(theirs.word, heads)
    stem_following = chain(theirs.stem, stem_heads)
    found = np.empty(words, dtype=np.int64)
    stem_found = np.empty(words, dtype=np.int64)
    line = np.empty(MOST_LETTERS + 1, dtype=np.int32)
    for i in range(states):
        find_row(
            lexicon.row_offsets, lexicon.columns, ours.word[i], theirs.word, heads, following, found
        )
        find_row(
            lexicon.stem_offsets,
            lexicon.stem_columns,
            ours.stem[i],
            theirs.stem,
            stem_heads,
            stem_following,
            stem_found,
        )
        for j in range(words):
            at = i - low[j]
            back_at = j - back_low[i]
            ahead = 0 <= at < width
            behind = 0 <= back_at < back_width
            if not (ahead or behind):
                continue
            entry = found[j]
            if entry >= 0:
                p_forward = lexicon.probabilities[entry, 0]
                p_reverse = lexicon.probabilities[entry, 1]
            else:
                count = np.float32(0.0)
                if stem_found[j] >= 0:
                    count = lexicon.stem_counts[stem_found[j]]
                near = np.float32(0.0)
                common = ours.bag[i] & theirs.bag[j]
                if common != 0:
                    most = max(bits_set(ours.bag[i]), bits_set(theirs.bag[j]))
                    if 2 * bits_set(common) > most:
                        s = ours.start + i
                        t = theirs.start + j
                        near = np.float32(
                            likeness(
                                source.letters,
                                source.letter_offsets[s],
                                source.letter_offsets[s + 1],
                                target.letters,
                                target.letter_offsets[t],
                                target.letter_offsets[t + 1],
                                line,
                            )
                        )
                p_forward = back_off(ours.lead[i], count, near, theirs.share[j], theirs.unigram[j])
                p_reverse = back_off(theirs.lead[j], count, near, ours.share[i], ours.unigram[i])
            if ahead:
                forward[j, at] = p_forward + LEAST
            if behind:
                reverse[i, back_at] = p_reverse + LEAST
                entries[i, back_at] = entry
    for j in range(words):
        if theirs.word[j] >= 0:
            heads[theirs.word[j]] = -1
        if theirs.stem[j] >= 0:
            stem_heads[theirs.stem[j]] = -1
    return forward, low, theirs.null, reverse, back_low, ours.null, entries


@numba.njit(nogil=True, cache=True)
def inside(values: np.ndarray, low: np.ndarray, word: int, state: int) -> np.float32:
    """Return a value of a windowed matrix; 0 outside the window."""
    at = state - low[word]
    return values[word, at] if 0 <= at < values.shape[1] else np.float32(0.0)


@numba.njit(nogil=True, cache=True)
def expect(
    first: int,
    last: int,
    source: Side,
    target: Side,
    source_words: Words,
    target_words: Words,
    lexicon: Lexicon,
    jumps: np.ndarray,
    p_null: float,
    counts: np.ndarray,
    null_target_counts: np.ndarray,
    null_source_counts: np.ndarray,
    jump_counts: np.ndarray,
) -> tuple[float, float]:
    """Add the expected counts of the pairs ``first`` to ``last - 1``.

    Args:
        first: First pair.
        last: Pair behind the last.
        source: The source side.
        target: The target side.
        source_words: What is known of the source words.
        target_words: What is known of the target words.
        lexicon: The lexicon.
        jumps: Weights of jumps, float32 ``[direction, distance]``; ``[0, 0]`` for Model 1.
        p_null: Probability that a word is made by nothing.
        counts: Receives links, in units of 1 / FIXED_POINT, int64 ``[entry]``.
        null_target_counts: Receives target words made by nothing, int64 ``[target word]``.
        null_source_counts: The same for the source.
        jump_counts: Receives jumps, float64 ``[direction, distance]``.

    Returns:
        The logarithms of the likelihoods, forward and reverse.
    """
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
        p_forward = np.empty_like(forward)
        p_reverse = np.empty_like(reverse)
        if len(jumps) > 0:
            layout = lay_out(jumps[0], forward.shape[1], p_null)
            log_forward += posteriors(forward, low, null, layout, p_null, p_forward, jump_counts[0])
            layout = lay_out(jumps[1], reverse.shape[1], p_null)
            log_reverse += posteriors(
                reverse, back_low, back_null, layout, p_null, p_reverse, jump_counts[1]
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
                    both = p_reverse[state, at] * inside(p_forward, low, word, state)
                    counts[entry] += np.int64(both * FIXED_POINT)
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


@numba.njit(nogil=True, cache=True)
def hear(
    emission: np.ndarray, low: np.ndarray, believed: np.ndarray, believed_low: np.ndarray
) -> None:
    """Multiply each emission by the odds of the link in the other direction.

    Args:
        emission: Of one direction, is changed, float32 ``[word, width]``.
        low: Its windows.
        believed: Posteriors of the other direction.
        believed_low: Its windows.
    """
    one = np.float32(1.0)
    for word in range(emission.shape[0]):
        for at in range(emission.shape[1]):
            chance = inside(believed, believed_low, low[word] + at, word)
            emission[word, at] *= (chance + DOUBT) / (one - chance + DOUBT)


@numba.njit(nogil=True, cache=True)
def align_pairs(
    source: Side,
    target: Side,
    source_words: Words,
    target_words: Words,
    lexicon: Lexicon,
    jumps: np.ndarray,
    p_null: float,
    threshold: float,
    viterbi: bool,  # noqa: FBT001 - Numba takes no keywords-only arguments
) -> tuple[np.ndarray, ...]:
    """Link the words of pairs in both directions.

    Args:
        source: The source side.
        target: The target side, of as many pairs.
        source_words: What is known of the source words.
        target_words: What is known of the target words.
        lexicon: The lexicon.
        jumps: Weights of jumps, float32 ``[direction, distance]``.
        p_null: Probability that a word is made by nothing.
        threshold: Least posterior of a link.
        viterbi: Link the likeliest path instead of all that is likely enough.

    Returns:
        For each direction: where each pair's links begin (int32), their source and target words
        (int16), sorted, and their posteriors (float32).
    """
    pairs = len(source.offsets) - 1
    heads = np.full(len(target_words.mass), -1, dtype=np.int32)
    stem_heads = np.full(len(target_words.stem_mass), -1, dtype=np.int32)
    none = np.empty(0, dtype=np.float64)
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
            p_forward = np.empty_like(forward)
            p_reverse = np.empty_like(reverse)
            layout = lay_out(jumps[0], forward.shape[1], p_null)
            back_layout = lay_out(jumps[1], reverse.shape[1], p_null)
            posteriors(forward, low, null, layout, p_null, p_forward, none)
            posteriors(reverse, back_low, back_null, back_layout, p_null, p_reverse, none)
            hear(forward, low, p_reverse, back_low)
            hear(reverse, back_low, p_forward, low)
            posteriors(forward, low, null, layout, p_null, p_forward, none)
            posteriors(reverse, back_low, back_null, back_layout, p_null, p_reverse, none)
            # At most 1 / threshold states of a word can be likely enough.
            need = used.max() + max(words, states) * (np.int64(1.0 / threshold) + 1)
            if need > room:
                while need > room:
                    room *= 2
                wider = np.empty((2, 2, room), dtype=np.int16)
                wider[:, :, : ends.shape[2]] = ends
                ends = wider
                more = np.empty((2, room), dtype=np.float32)
                more[:, : values.shape[1]] = values
                values = more
            path = np.empty(0, dtype=np.int32)
            back_path = path
            if viterbi:
                path = best_path(forward, low, null, layout, p_null)
                back_path = best_path(reverse, back_low, back_null, back_layout, p_null)
            # Forward links by column would not be sorted: collect them by row through windows.
            for state in range(states):
                for word in range(first_word(low, state, forward.shape[1]), words):
                    at = state - low[word]
                    if at < 0:
                        break
                    chance = p_forward[word, at]
                    if path[word] == state if viterbi else chance >= threshold:
                        ends[0, 0, used[0]] = state
                        ends[0, 1, used[0]] = word
                        values[0, used[0]] = chance
                        used[0] += 1
                for at in range(reverse.shape[1]):
                    word = back_low[state] + at
                    chance = p_reverse[state, at]
                    if back_path[state] == word if viterbi else chance >= threshold:
                        ends[1, 0, used[1]] = state
                        ends[1, 1, used[1]] = word
                        values[1, used[1]] = chance
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


@numba.njit(nogil=True, cache=True)
def first_word(low: np.ndarray, state: int, width: int) -> int:
    """Return the first word whose window reaches a state."""
    first = 0
    behind = len(low)
    while first < behind:
        middle = (first + behind) >> 1
        if low[middle] + width <= state:
            first = middle + 1
        else:
            behind = middle
    return first
