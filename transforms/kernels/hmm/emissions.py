"""Emissions of both directions: how probable each word of a pair is given each word opposite.

Word pairs that are not in the lexicon are judged by their stems, spelling and frequency: names,
numbers and cognates often keep their letters.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.hmm.lexicon import Lexicon, search_row
from pairweave.transforms.kernels.hmm.sides import STEM_PRIOR, Side, Tokens, Words, tokens_of
from pairweave.transforms.kernels.matrices import padded, transpose
from pairweave.transforms.kernels.scratch import (
    Scratch,
    take,
    take_rows,
    take_zero_rows,
    take_zeros,
)
from pairweave.transforms.kernels.uncounted import uncounted
from pairweave.transforms.kernels.vectors import (
    LANES,
    count_bits,
    load,
    prefetch,
    spread,
    store,
)

MAX_STATES = 256
"""If a side has more words than this, each word sees a window of this many around the diagonal."""

MIN_PROBABILITY = np.float32(1e-30)
"""Keeps every probability above 0."""

MIN_LETTERS = 4
"""Shorter words are alike only if they are equal; so are words that begin with a digit."""

MAX_LETTERS = 64
"""Longer words are alike only if they are equal."""

LIKENESS_WEIGHT = np.float32(0.5)
"""Probability, if nothing else is known, that a word becomes one of the same spelling."""

UNIGRAM_WEIGHT = np.float32(0.3)
"""Weight of a word's frequency if nothing else is known."""

LONG_ROW = 16
"""A row with more entries than this for each word of the other side is searched, not read."""

BLOCK = 16
"""Number of source words that are computed at once if only windows are kept."""

_NONE = np.float32(0.0)


class Emission(NamedTuple):
    """Probabilities of the words of one side of a pair, given the states of the other.

    Attributes:
        values: Probability of each word given each state of its window, float32 ``[word, state]``,
            rows and columns padded with zeros to multiples of eight.
        null: Probability of each word given the null state, above 0, float32 ``[word]``.
        low: First state of each word's window, int32 ``[word]``.
        width: Number of states in a window.
    """

    values: np.ndarray
    null: np.ndarray
    low: np.ndarray
    width: int


@numba.njit(nogil=True, cache=True)
def back_off(
    weight: np.float32,
    stem_count: np.float32,
    alike: np.float32,
    share: np.float32,
    unigram: np.float32,
) -> np.float32:
    """Return the share of stems, spelling and frequency in p(other | word).

    p(other | word) is ``(count + prior * b) / (mass + prior)``, the mean of a Dirichlet
    posterior with base ``b`` (MacKay and Bauman Peto 1995), and ``b`` is the same mean for the
    stems: ``(stem_count * share + STEM_PRIOR * prior) / (stem_mass + STEM_PRIOR)``.

    Args:
        weight: Weight of the word, from `sides.back_off_weight`.
        stem_count: Expected links of both stems.
        alike: Likeness of both words, from `likeness`.
        share: Probability of the other word given its stem.
        unigram: Probability of the other word.
    """
    prior = LIKENESS_WEIGHT * alike + UNIGRAM_WEIGHT * unigram
    return weight * (stem_count * share + STEM_PRIOR * prior)


@numba.njit(nogil=True, cache=True)
def window(words: int, states: int, scratch: Scratch) -> tuple[int, np.ndarray]:
    """Return the width of the windows and the first state of each word's, int32 ``[word]``.

    All states, if neither side has more than `MAX_STATES` words; else a band around the diagonal.
    """
    low = take_zeros(scratch, np.int32, words)
    width = states
    if max(words, states) > MAX_STATES:
        width = min(states, MAX_STATES)
        for word in range(words):
            centre = (2 * word + 1) * states // (2 * words)
            low[word] = min(max(centre - width // 2, 0), states - width)
    return width, low


@uncounted
def likeness(
    letters: np.ndarray,
    start: int,
    end: int,
    others: np.ndarray,
    other_start: int,
    other_end: int,
) -> float:
    """Return the likeness of the spelling of two words, in [0, 1].

    It is 1 for equal words, otherwise ``(2 * r - 1)**2`` for a longest common subsequence of
    ``r > 1 / 2`` of the longer word's letters (the LCSR of Melamed 1999), and 0 below.

    Args:
        letters: Folded code points with those of the first word.
        start: First letter of the first word.
        end: End of the first word, exclusive.
        others: Folded code points with those of the second word.
        other_start: First letter of the second word.
        other_end: End of the second word, exclusive.
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
    # One bit for each letter of the second word, of at most 64 (Hyyro 2004): it becomes 0 where the
    # longest common subsequence grows.
    bits = ~np.uint64(0)
    for at in range(length):
        letter = letters[start + at]
        equal = np.uint64(0)
        for by in range(width):
            equal |= np.uint64(others[other_start + by] == letter) << np.uint64(by)
        met = bits & equal
        bits = (bits + met) | (bits - met)
    ratio = count_bits(~bits) / longer
    if ratio <= 0.5:
        return 0.0
    return (2.0 * ratio - 1.0) ** 2


class Heads(NamedTuple):
    """Where a pair has each word and stem of one side first; -1 between pairs.

    Attributes:
        words: For `chain`, int32 ``[word]``.
        stems: The same, int32 ``[stem]``.
    """

    words: np.ndarray
    stems: np.ndarray


@numba.njit(nogil=True, cache=True)
def heads_of(words: Words) -> Heads:
    """Return the heads of a side with these words."""
    return Heads(
        np.full(len(words.mass), -1, dtype=np.int32),
        np.full(len(words.stem_mass), -1, dtype=np.int32),
    )


@numba.njit(nogil=True, cache=True)
def chain(numbers: np.ndarray, heads: np.ndarray, scratch: Scratch) -> np.ndarray:
    """Link the places of equal numbers, so that all places of a number can be found.

    Args:
        numbers: Words or stems, negative for none, int32 ``[place]``.
        heads: -1 everywhere; receives the first place of each number, int32.
        scratch: Memory for arrays.

    Returns:
        The next place with the same number, -1 for none, int32 ``[place]``.
    """
    following = take(scratch, np.int32, len(numbers))
    for place in range(len(numbers) - 1, -1, -1):
        following[place] = -1
        if numbers[place] >= 0:
            following[place] = heads[numbers[place]]
            heads[numbers[place]] = place
    return following


class Known(NamedTuple):
    """What a lexicon knows about some source words and all target words of a pair.

    Attributes:
        entries: The lexicon's entries, -1 for none, int64 ``[source word, target word]``.
        begins: Start of each source word's entries in the next two, int64 ``[source word + 1]``.
        found: The entries that are not -1, in any order for each source word, int64.
        places: Their places in a matrix in the shape of ``counts``, int64.
        counts: Expected links of both stems, float32 ``[source word, target word]``, columns padded
            with zeros; any number where there is an entry.
    """

    entries: np.ndarray
    begins: np.ndarray
    found: np.ndarray
    places: np.ndarray
    counts: np.ndarray


@numba.njit(nogil=True, cache=True)
def nothing_known(rows: int, columns: int, scratch: Scratch) -> Known:
    """Return arrays for these numbers of source and target words."""
    return Known(
        take_rows(scratch, np.int64, rows, columns),
        take(scratch, np.int64, rows + 1),
        take(scratch, np.int64, rows * columns),
        take(scratch, np.int64, rows * columns),
        take_rows(scratch, np.float32, rows, padded(columns)),
    )


@uncounted
def fetch_rows(offsets: np.ndarray, columns: np.ndarray, rows: np.ndarray) -> None:
    """Prefetch rows of a lexicon, all at once, before they are read one after the other.

    Args:
        offsets: Row offsets of a lexicon.
        columns: Its columns.
        rows: The rows, negative for none, int32.
    """
    for at in range(len(rows)):
        prefetch(columns, offsets[np.uint64(max(rows[at], 0))])


@uncounted
def find_entries(
    offsets: np.ndarray,
    columns: np.ndarray,
    frequent: np.ndarray,
    rows: np.ndarray,
    numbers: np.ndarray,
    heads: np.ndarray,
    following: np.ndarray,
    known: Known,
) -> None:
    """Find the entries of pairs of words.

    Args:
        offsets: Row offsets of a lexicon.
        columns: Its columns.
        frequent: Its table of frequent words.
        rows: Source words, negative for none, int32.
        numbers: Target words, negative for none, int32.
        heads: From `chain` of ``numbers``.
        following: From `chain` of ``numbers``.
        known: Receives the entries and their places.
    """
    entries, begins, found, places, counts = known
    fetch_rows(offsets, columns, rows)
    # Unsigned, because Numba counts negative indices from the end, which takes time.
    used, dense = np.uint64(0), np.uint64(len(frequent))
    begins[0] = 0
    for at in range(len(rows)):
        on = at * counts.shape[1]
        row = np.uint64(max(rows[at], 0))
        tabulated = rows[at] >= 0 and row < dense
        if tabulated:
            # Without a branch, so that the processor does not wait for one place after the other.
            for place in range(len(numbers)):
                one = frequent[row, np.uint64(max(numbers[place], 0))]
                entries[at, place] = one if numbers[place] >= 0 else -1
        else:
            for place in range(len(numbers)):
                entries[at, place] = -1
        if rows[at] >= 0:
            first, last = offsets[row], offsets[row + np.uint64(1)]
            if tabulated or last - first > LONG_ROW * len(numbers):
                for place in range(len(numbers)):
                    if not tabulated and numbers[place] >= 0:
                        entries[at, place] = search_row(columns, first, last, numbers[place])
                    one = entries[at, place]
                    if one >= 0:
                        found[used] = one
                        places[used] = on + place
                        used += np.uint64(1)
            else:
                for entry in range(first, last):
                    place = heads[np.uint64(columns[np.uint64(entry)])]
                    while place >= 0:
                        entries[np.uint64(at), np.uint64(place)] = entry
                        found[used] = entry
                        places[used] = on + place
                        used += np.uint64(1)
                        place = following[np.uint64(place)]
        begins[at + 1] = np.int64(used)


@uncounted
def find_counts(
    stored: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    rows: np.ndarray,
    numbers: np.ndarray,
    heads: np.ndarray,
    following: np.ndarray,
    known: Known,
) -> None:
    """Find the expected links of pairs of stems, for the words that have no entry.

    Args:
        stored: Row offsets of the stems in a lexicon, their columns, counts and the table of
            frequent stems.
        rows: Source stems, negative for none, int32.
        numbers: Target stems, negative for none, int32.
        heads: From `chain` of ``numbers``.
        following: From `chain` of ``numbers``.
        known: The entries of the words, from `find_entries`; receives the counts.
    """
    offsets, columns, values, frequent = stored
    entries, begins, _, _, counts = known
    dense = np.uint64(len(frequent))
    fetch_rows(offsets, columns, rows)
    for at in range(len(rows)):
        wanted = len(numbers) - (begins[at + 1] - begins[at])
        # In training, nearly all words of a pair have an entry; in new text, few have.
        if wanted == 0:
            continue
        for place in range(counts.shape[1]):
            counts[at, place] = 0.0
        if rows[at] < 0:
            continue
        row = np.uint64(rows[at])
        first, last = offsets[row], offsets[row + np.uint64(1)]
        if row < dense:
            for place in range(len(numbers)):
                if entries[at, place] < 0 and numbers[place] >= 0:
                    one = frequent[row, np.uint64(numbers[place])]
                    count = values[np.uint64(max(one, 0))]
                    counts[at, place] = count if one >= 0 else _NONE
        elif last - first > LONG_ROW * wanted:
            for place in range(len(numbers)):
                if entries[at, place] < 0 and numbers[place] >= 0:
                    entry = search_row(columns, first, last, numbers[place])
                    if entry >= 0:
                        counts[at, place] = values[entry]
        else:
            for entry in range(first, last):
                place = heads[np.uint64(columns[np.uint64(entry)])]
                while place >= 0:
                    counts[np.uint64(at), np.uint64(place)] = values[np.uint64(entry)]
                    place = following[np.uint64(place)]


@numba.njit(nogil=True, cache=True)
def translate(
    source: Side,
    target: Side,
    tokens: tuple[Tokens, Tokens],
    begin: int,
    probabilities: np.ndarray,
    known: Known,
    made: tuple[np.ndarray, np.ndarray],
    scratch: Scratch,
) -> None:
    """Compute the probabilities of some source words and all target words given each other.

    Args:
        source: The source side.
        target: The target side.
        tokens: Tokens of both sides.
        begin: The first source word.
        probabilities: Those of the lexicon's entries.
        known: What the lexicon knows about the source words.
        made: Receives the probabilities of the target words, then of the source words, float32
            ``[source word, target word]``, columns padded with zeros.
        scratch: Memory for arrays.
    """
    # Unpacked, because each access to an array in a tuple changes its reference count.
    ours, theirs = tokens
    text, other_text = source.letters, target.letters
    text_offsets, other_offsets = source.letter_offsets, target.letter_offsets
    weight, share, unigram = ours[3:6]
    letters, letter_need = ours[7:]
    weights, shares, unigrams = theirs[3:6]
    other_letters = theirs.letter_set
    entries, begins, found, places, counts = known
    ahead, back = made
    words, columns = entries.shape[1], counts.shape[1]
    # Words are similar if they share two thirds of the letters of the one that has more.
    needs = theirs.letter_need
    alone = take_zeros(scratch, np.float32, columns)
    floor = take_zeros(scratch, np.float32, columns)
    for j in range(words):
        alone[j] = STEM_PRIOR * (UNIGRAM_WEIGHT * unigrams[j])
        floor[j] = MIN_PROBABILITY
    for at in range(len(begins) - 1):
        i = begin + at
        first, last = begins[at], begins[at + 1]
        if last - first < words:
            our_weight, our_share = weight[i], share[i]
            # `back_off` without a likeness.
            given_weight, of_stem = spread(our_weight), spread(our_share)
            our_alone = spread(STEM_PRIOR * (UNIGRAM_WEIGHT * unigram[i]))
            row = at * columns
            for j in range(0, columns, LANES):
                count, least = load(counts, row + j), load(floor, j)
                store(
                    ahead,
                    row + j,
                    given_weight * (count * load(shares, j) + load(alone, j)) + least,
                )
                store(back, row + j, load(weights, j) * (count * of_stem + our_alone) + least)
            # Words whose letters are ignored have none.
            our_letters = letters[i]
            our_need = max(letter_need[i], 1)
            s = ours.start + i
            for j in range(words):
                common = count_bits(our_letters & other_letters[j])
                if common < max(our_need, needs[j]) or entries[at, j] >= 0:
                    continue
                t = theirs.start + j
                near = np.float32(
                    likeness(
                        text,
                        text_offsets[s],
                        text_offsets[s + 1],
                        other_text,
                        other_offsets[t],
                        other_offsets[t + 1],
                    )
                )
                if near > _NONE:
                    count_of_stems = counts[at, j]
                    ahead[at, j] = MIN_PROBABILITY + back_off(
                        our_weight, count_of_stems, near, shares[j], unigrams[j]
                    )
                    back[at, j] = MIN_PROBABILITY + back_off(
                        weights[j], count_of_stems, near, our_share, unigram[i]
                    )
    # All at once, since the probabilities are far apart in memory.
    given, of_other = ahead.reshape(-1), back.reshape(-1)
    for at in range(begins[len(begins) - 1]):
        place, entry = np.uint64(places[at]), np.uint64(found[at])
        given[place] = probabilities[entry, np.uint64(0)] + MIN_PROBABILITY
        of_other[place] = probabilities[entry, np.uint64(1)] + MIN_PROBABILITY


@numba.njit(nogil=True, cache=True)
def emissions(
    source: Side,
    target: Side,
    pair: int,
    source_words: Words,
    target_words: Words,
    lexicon: Lexicon,
    heads: Heads,
    scratch: Scratch,
) -> tuple[Emission, Emission, np.ndarray]:
    """Compute the probability of each word of a pair given each word of the other side.

    Args:
        source: The source side.
        target: The target side.
        pair: The pair.
        source_words: Statistics of the source words.
        target_words: Statistics of the target words.
        lexicon: The lexicon.
        heads: Of the target side; -1 everywhere, before and after the call.
        scratch: Memory for arrays.

    Returns:
        Emissions of the target words, those of the source words, and the lexicon's entries, int64
        ``[source word, width of its window]``, -1 for none.
    """
    ours = tokens_of(source, pair, source_words, scratch)
    theirs = tokens_of(target, pair, target_words, scratch)
    words, states = len(theirs.word), len(ours.word)
    width, low = window(words, states, scratch)
    back_width, back_low = window(states, words, scratch)
    row_offsets, columns, probabilities, frequent = lexicon[:4]
    stems = lexicon[4:]
    word_heads, stem_heads = heads
    following = chain(theirs.word, word_heads, scratch)
    stem_following = chain(theirs.stem, stem_heads, scratch)
    whole = back_width == words and width == states
    block = states if whole else BLOCK
    known = nothing_known(block, words, scratch)
    ahead = take_zero_rows(scratch, np.float32, padded(block), padded(words))
    back = take_zero_rows(scratch, np.float32, ahead.shape[0], ahead.shape[1])
    forward = take_zero_rows(scratch, np.float32, padded(words), padded(width))
    reverse, entries = back, known.entries
    if not whole:
        reverse = take_zero_rows(scratch, np.float32, padded(states), padded(back_width))
        entries = take_rows(scratch, np.int64, states, back_width)
    for begin in range(0, states, block):
        end = min(begin + block, states)
        known = known if end == begin + block else nothing_known(end - begin, words, scratch)
        find_entries(
            row_offsets,
            columns,
            frequent,
            ours.word[begin:end],
            theirs.word,
            word_heads,
            following,
            known,
        )
        find_counts(stems, ours.stem[begin:end], theirs.stem, stem_heads, stem_following, known)
        translate(
            source, target, (ours, theirs), begin, probabilities, known, (ahead, back), scratch
        )
        if not whole:
            for i in range(begin, end):
                for j in range(words):
                    at = i - low[j]
                    if 0 <= at < width:
                        forward[j, at] = ahead[i - begin, j]
                for at in range(back_width):
                    reverse[i, at] = back[i - begin, back_low[i] + at]
                    entries[i, at] = known.entries[i - begin, back_low[i] + at]
    if whole:
        transpose(ahead, forward)
    for j in range(words):
        if theirs.word[j] >= 0:
            word_heads[theirs.word[j]] = -1
        if theirs.stem[j] >= 0:
            stem_heads[theirs.stem[j]] = -1
    return (
        Emission(forward, theirs.null, low, width),
        Emission(reverse, ours.null, back_low, back_width),
        entries,
    )
