"""What the words of a pair say of each other: the emissions of both directions.

Words that the lexicon does not know together are judged by their stems, letters and frequency.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.hmm.model1 import Words, back_off, find_entry, lead_of
from pairweave.transforms.kernels.text.similarity import (
    MAX_LETTERS,
    bits_set,
    letter_bag,
    likeness,
)

MAX_STATES = 256
"""Pairs with more words on a side see a window of this many round the diagonal."""

LONG_ROW = 16
"""A row that has more entries than this for each word of the other side is searched, not read."""

LEAST = np.float32(1e-30)
"""Keeps every probability above 0."""


class Side(NamedTuple):
    """One side of some pairs.

    Attributes:
        offsets: Where each pair's tokens begin, int64 ``[pair + 1]``.
        words: Word of each token as `transforms.kernels.text.words.look_up` numbers it, int32.
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
        letters: Size of the bag.
    """

    start: int
    word: np.ndarray
    stem: np.ndarray
    lead: np.ndarray
    share: np.ndarray
    unigram: np.ndarray
    null: np.ndarray
    bag: np.ndarray
    letters: np.ndarray


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
    letters = np.zeros(length, dtype=np.int64)
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
            letters[at] = bits_set(bag[at])
    return Tokens(start, word, stem, lead, share, unigram, null, bag, letters)


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

    All states, if neither side has more than `MAX_STATES` words; else a band round the diagonal.
    """
    low = np.zeros(words, dtype=np.int32)
    width = states
    if max(words, states) > MAX_STATES:
        width = min(states, MAX_STATES)
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
    line = np.empty(MAX_LETTERS + 1, dtype=np.int32)
    count = np.empty(words, dtype=np.float32)
    ahead = np.empty(words, dtype=np.float32)
    back = np.empty(words, dtype=np.float32)
    none = np.float32(0.0)
    # Out of their tuples, for each use of an array in one counts references.
    row_offsets, columns, probabilities = lexicon[:3]
    stem_offsets, stem_columns, stem_counts = lexicon[3:]
    word, stem, other_words, stems = ours.word, ours.stem, theirs.word, theirs.stem
    text, other_text = source.letters, target.letters
    text_offsets, other_offsets = source.letter_offsets, target.letter_offsets
    lead, share, unigram = ours.lead, ours.share, ours.unigram
    leads, shares, unigrams = theirs.lead, theirs.share, theirs.unigram
    bag, bags, letters, letter_counts = ours.bag, theirs.bag, ours.letters, theirs.letters
    for i in range(states):
        find_row(row_offsets, columns, word[i], other_words, heads, following, found)
        find_row(stem_offsets, stem_columns, stem[i], stems, stem_heads, stem_following, stem_found)
        for j in range(words):
            count[j] = stem_counts[stem_found[j]] if stem_found[j] >= 0 else none
        for j in range(words):
            ahead[j] = back_off(lead[i], count[j], none, shares[j], unigrams[j])
            back[j] = back_off(leads[j], count[j], none, share[i], unigram[i])
        for j in range(words):
            if found[j] >= 0:
                ahead[j] = probabilities[found[j], 0]
                back[j] = probabilities[found[j], 1]
                continue
            common = bag[i] & bags[j]
            if common == 0 or 3 * bits_set(common) < 2 * max(letters[i], letter_counts[j]):
                continue
            s = ours.start + i
            t = theirs.start + j
            near = np.float32(
                likeness(
                    text,
                    text_offsets[s],
                    text_offsets[s + 1],
                    other_text,
                    other_offsets[t],
                    other_offsets[t + 1],
                    line,
                )
            )
            if near > none:
                ahead[j] = back_off(lead[i], count[j], near, shares[j], unigrams[j])
                back[j] = back_off(leads[j], count[j], near, share[i], unigram[i])
        for j in range(words):
            at = i - low[j]
            if 0 <= at < width:
                forward[j, at] = ahead[j] + LEAST
        for at in range(back_width):
            reverse[i, at] = back[back_low[i] + at] + LEAST
            entries[i, at] = found[back_low[i] + at]
    for j in range(words):
        if theirs.word[j] >= 0:
            heads[theirs.word[j]] = -1
        if theirs.stem[j] >= 0:
            stem_heads[theirs.stem[j]] = -1
    return forward, low, theirs.null, reverse, back_low, ours.null, entries
