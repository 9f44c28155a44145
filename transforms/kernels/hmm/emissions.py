"""Emissions of both directions: how probable each word of a pair is given each word opposite.

Word pairs that are not in the lexicon are judged by their stems, spelling and frequency: names,
numbers and cognates often keep their letters.
"""

import numba
import numpy as np

from pairweave.transforms.kernels.hmm.lexicon import Lexicon, find_entry
from pairweave.transforms.kernels.hmm.sides import STEM_PRIOR, Side, Words, tokens_of

MAX_STATES = 256
"""If a side has more words than this, each word sees a window of this many round the diagonal."""

LEAST = np.float32(1e-30)
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

_NONE = np.float32(0.0)


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
def count_bits(value: np.uint64) -> np.int64:
    """Count the bits (Warren 2013, section 5-1)."""
    value -= (value >> np.uint64(1)) & np.uint64(0x5555555555555555)
    value = (value & np.uint64(0x3333333333333333)) + (
        (value >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    value = (value + (value >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((value * np.uint64(0x0101010101010101)) >> np.uint64(56))


@numba.njit(nogil=True, cache=True)
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


@numba.njit(nogil=True, cache=True)
def chain(numbers: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """Link the places of equal numbers, so that all places of a number can be found.

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
) -> int:
    """Find a row's entries for all words of the other side, and return their number.

    Args:
        offsets: Row offsets of a lexicon.
        columns: Its columns.
        row: The row, or -1 for none.
        numbers: Wanted columns, negative for none, int32 ``[place]``.
        heads: From `chain` of ``numbers``.
        following: From `chain` of ``numbers``.
        entries: Receives the entry of each place, -1 for none, int64 ``[place]``.
    """
    entries[:] = -1
    if row < 0:
        return 0
    known = 0
    # Unsigned, because Numba counts negative indices from the end, which takes time.
    first, last = offsets[np.uint64(row)], offsets[np.uint64(row + 1)]
    if last - first > LONG_ROW * len(numbers):
        for place in range(len(numbers)):
            if numbers[place] >= 0:
                entry = find_entry(offsets, columns, row, numbers[place])
                entries[place] = entry
                known += entry >= 0
        return known
    for entry in range(first, last):
        place = heads[np.uint64(columns[np.uint64(entry)])]
        while place >= 0:
            entries[np.uint64(place)] = entry
            known += 1
            place = following[np.uint64(place)]
    return known


@numba.njit(nogil=True, cache=True)
def find_counts(
    stored: tuple[np.ndarray, np.ndarray, np.ndarray],
    row: int,
    numbers: np.ndarray,
    heads: np.ndarray,
    following: np.ndarray,
    known: np.ndarray,
    wanted: int,
    counts: np.ndarray,
) -> None:
    """Find a row's values for the places that are not known: in training, few or none.

    Args:
        stored: Row offsets and columns, as in `find_row`, and the value of each entry, float32.
        row: The row, or -1 for none.
        numbers: Columns by place.
        heads: From `chain` of ``numbers``.
        following: From `chain` of ``numbers``.
        known: Negative where a value is wanted, int64 ``[place]``.
        wanted: Number of such places.
        counts: Receives the values of the wanted places, 0 for none, float32 ``[place]``; the
            others receive any value.
    """
    offsets, columns, values = stored
    counts[:] = 0.0
    if row < 0:
        return
    first, last = offsets[np.uint64(row)], offsets[np.uint64(row + 1)]
    if last - first > LONG_ROW * wanted:
        for place in range(len(numbers)):
            if known[place] < 0 and numbers[place] >= 0:
                entry = find_entry(offsets, columns, row, numbers[place])
                if entry >= 0:
                    counts[place] = values[entry]
        return
    for entry in range(first, last):
        place = heads[np.uint64(columns[np.uint64(entry)])]
        while place >= 0:
            counts[np.uint64(place)] = values[np.uint64(entry)]
            place = following[np.uint64(place)]


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
    """Compute the probability of each word of a pair given each word of the other side.

    Args:
        source: The source side.
        target: The target side.
        pair: The pair.
        source_words: Statistics of the source words.
        target_words: Statistics of the target words.
        lexicon: The lexicon.
        heads: Scratch: -1 for each target word, before and after the call, int32.
        stem_heads: Scratch: -1 for each target stem, likewise.

    Returns:
        For forward and reverse each: emission ``[word, width]``, first state of the window, and
        probability given the null state; then the lexicon's entries, int64
        ``[source word, width of the reverse]``, -1 for none.
    """
    ours = tokens_of(source, pair, source_words)
    theirs = tokens_of(target, pair, target_words)
    words, states = len(theirs.word), len(ours.word)
    width, low = window(words, states)
    back_width, back_low = window(states, words)
    forward = np.full((words, width), LEAST, dtype=np.float32)
    reverse = np.empty((states, back_width), dtype=np.float32)
    entries = np.empty((states, back_width), dtype=np.int64)
    following = chain(theirs.word, heads)
    stem_following = chain(theirs.stem, stem_heads)
    entry = np.empty(words, dtype=np.int64)
    chosen = np.empty(words + 1, dtype=np.int32)
    similar = np.empty(words, dtype=np.int32)
    count = np.empty(words, dtype=np.float32)
    ahead = np.empty(words, dtype=np.float32)
    back = np.empty(words, dtype=np.float32)
    # Unpacked, because each access to an array in a tuple changes its reference count.
    row_offsets, columns, probabilities, stem_offsets, stem_columns, stem_counts = lexicon
    text, other_text = source.letters, target.letters
    text_offsets, other_offsets = source.letter_offsets, target.letter_offsets
    word, stem, weight, share, unigram = ours[1:6]
    letters, letter_count = ours[7:]
    other_words, stems, weights, shares, unigrams = theirs[1:6]
    other_letters = theirs.letter_set
    # Words are similar if they share two thirds of the letters of the one that has more.
    needs = ((2 * theirs.letter_count + 2) // 3).astype(np.int32)
    alone = np.empty(words, dtype=np.float32)
    for j in range(words):
        alone[j] = STEM_PRIOR * (UNIGRAM_WEIGHT * unigrams[j])
    for i in range(states):
        known = find_row(row_offsets, columns, word[i], other_words, heads, following, entry)
        # In training, nearly all words of a pair have an entry; in new text, few have.
        if known < words:
            find_counts(
                (stem_offsets, stem_columns, stem_counts),
                stem[i],
                stems,
                stem_heads,
                stem_following,
                entry,
                words - known,
                count,
            )
            # Items of arrays are read once: the compiler cannot know that no loop writes them.
            our_weight, our_share = weight[i], share[i]
            our_alone = STEM_PRIOR * (UNIGRAM_WEIGHT * unigram[i])
            # `back_off` without a likeness.
            for j in range(words):
                ahead[j] = our_weight * (count[j] * shares[j] + alone[j])
            for j in range(words):
                back[j] = weights[j] * (count[j] * our_share + our_alone)
            # At least 0 for similar words. Words whose letters are ignored have none.
            our_letters = letters[i]
            our_need = np.int32((2 * max(letter_count[i], 1) + 2) // 3)
            for j in range(words):
                common = np.int32(count_bits(our_letters & other_letters[j]))
                similar[j] = common - max(our_need, needs[j])
            used = np.uint64(0)
            for j in range(words):
                chosen[used] = j
                used += np.uint64((similar[j] >= 0) & (entry[j] < 0))
            for at in range(np.int64(used)):
                other = np.uint64(chosen[at])
                s = ours.start + i
                t = theirs.start + chosen[at]
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
                    ahead[other] = back_off(
                        our_weight, count[other], near, shares[other], unigrams[other]
                    )
                    back[other] = back_off(
                        weights[other], count[other], near, our_share, unigram[i]
                    )
        used = np.uint64(0)
        for j in range(words):
            chosen[used] = j
            used += np.uint64(entry[j] >= 0)
        for at in range(known):
            other = np.uint64(chosen[at])
            number = np.uint64(entry[other])
            ahead[other] = probabilities[number, np.uint64(0)]
            back[other] = probabilities[number, np.uint64(1)]
        if width == states:
            for j in range(words):
                forward[j, i] = ahead[j] + LEAST
        else:
            for j in range(words):
                at = i - low[j]
                if 0 <= at < width:
                    forward[j, at] = ahead[j] + LEAST
        first = back_low[i]
        for at in range(back_width):
            reverse[i, at] = back[first + at] + LEAST
        for at in range(back_width):
            entries[i, at] = entry[first + at]
    for j in range(words):
        if theirs.word[j] >= 0:
            heads[theirs.word[j]] = -1
        if theirs.stem[j] >= 0:
            stem_heads[theirs.stem[j]] = -1
    return forward, low, theirs.null, reverse, back_low, ours.null, entries
