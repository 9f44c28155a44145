"""Fragments of a sentence whose translations stand in the other (Hanneman and Dinu 2020, 3.1).

Words are hashes of their folded letters (`transforms.kernels.text.words`), so that a word at the
start of a sentence is the word that it is inside one.
"""

import numba
import numpy as np

from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.links.nesting import nests


@numba.njit(nogil=True, cache=True)
def count_places(words: np.ndarray, wanted: np.ndarray) -> Integer:
    """Count where a run of words begins among others."""
    length = len(wanted)
    count = 0
    for start in range(len(words) - length + 1):
        place = 0
        while place < length and words[start + place] == wanted[place]:
            place += 1
        count += place == length
    return count


@numba.njit(nogil=True, cache=True)
def list_fragments(
    run_seed: np.uint64,
    keys: np.ndarray,
    offsets: np.ndarray,
    words: np.ndarray,
    wordlike: np.ndarray,
    cuts: np.ndarray,
    max_words: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List the fragments of sentences in random order.

    A fragment is a run of words that holds a letter or a digit, does not split what a tag may not
    split, and stands in its sentence once: of a repeated one nobody knows which was translated.

    Args:
        run_seed: The run's seed.
        keys: Keys of the pairs, uint64 ``[pair]``.
        offsets: Where each sentence's words begin, int64 ``[pair + 1]``, from 0.
        words: Hashes, uint64 ``[word]``.
        wordlike: Which hold a letter or a digit, bool ``[word]``.
        cuts: Where a tag may stand (`transforms.text.tokens.find_cuts`), bool ``[word + pair]``.
        max_words: Most words of a fragment.

    Returns:
        Where each pair's fragments begin, int64 ``[pair + 1]``, their first words and the words
        behind them, int16 ``[fragment]``.
    """
    pairs = len(keys)
    most = 0
    for pair in range(pairs):
        length = offsets[pair + 1] - offsets[pair]
        most += length * min(length, max_words)
    begins = np.zeros(pairs + 1, np.int64)
    starts = np.empty(most, np.int16)
    ends = np.empty(most, np.int16)
    count = np.int64(0)
    for pair in range(pairs):
        first = offsets[pair]
        length = offsets[pair + 1] - first
        sentence = words[first : first + length]
        free = cuts[first + pair : first + pair + length + 1]
        for start in range(length):
            if not free[start]:
                continue
            real = False
            for end in range(start + 1, min(length, start + max_words) + 1):
                real |= wordlike[first + end - 1]
                if real and free[end] and count_places(sentence, sentence[start:end]) == 1:
                    starts[count] = start
                    ends[count] = end
                    count += 1
        begins[pair + 1] = count
        for step in range(count - begins[pair]):
            bits = sampling.draw(run_seed, keys[pair], sampling.STEP_FRAGMENTS, np.uint64(step))
            here = begins[pair] + step
            there = here + sampling.below(bits, count - here)
            starts[here], starts[there] = starts[there], starts[here]
            ends[here], ends[there] = ends[there], ends[here]
    return begins, starts[:count].copy(), ends[:count].copy()


@numba.njit(nogil=True, cache=True)
def next_fragments(
    active: np.ndarray,
    begins: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    cursors: np.ndarray,
    taken: np.ndarray,
    counts: np.ndarray,
    step: int,
    free: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Name the next fragments of some pairs, but for those that cross one that was taken.

    Args:
        active: The pairs, int64 ``[active]``.
        begins: From `list_fragments`.
        starts: From `list_fragments`.
        ends: From `list_fragments`.
        cursors: The next fragment of each pair, int64 ``[pair]``; is moved on.
        taken: Boxes of the fragments that were taken, int16 ``[pair, most, 4]``.
        counts: How many, int64 ``[pair]``.
        step: Most fragments for a pair.
        free: 1 if tags may cross.

    Returns:
        Where each active pair's fragments begin, int64 ``[active + 1]``, and the fragments, int64.
    """
    bounds = np.zeros(len(active) + 1, np.int64)
    found = np.empty(len(active) * step, np.int64)
    count = 0
    for place in range(len(active)):
        pair = active[place]
        at = cursors[pair]
        while at < begins[pair + 1] and count - bounds[place] < step:
            crosses = False
            for earlier in range(counts[pair]):
                low, high = taken[pair, earlier, 0], taken[pair, earlier, 1]
                apart = ends[at] <= low or high <= starts[at]
                inside = low <= starts[at] and ends[at] <= high
                outside = starts[at] <= low and high <= ends[at]
                crosses |= not (apart or inside or outside)
            if free or not crosses:
                found[count] = at
                count += 1
            at += 1
        cursors[pair] = at
        bounds[place + 1] = count
    return bounds, found[:count].copy()


@numba.njit(nogil=True, cache=True)
def _find_once(
    sentence: np.ndarray,
    first: Integer,
    behind: Integer,
    word_offsets: np.ndarray,
    words: np.ndarray,
) -> tuple[int, int]:
    """Return the one place of any of some translations, the best one's; or (-1, -1).

    Another place is another meaning, unless it lies inside the best one's.
    """
    low, high = -1, -1
    for translation in range(first, behind):
        wanted = words[word_offsets[translation] : word_offsets[translation + 1]]
        length = len(wanted)
        if length == 0:
            continue
        for start in range(len(sentence) - length + 1):
            place = 0
            while place < length and sentence[start + place] == wanted[place]:
                place += 1
            if place < length:
                continue
            if low < 0:
                low, high = start, start + length
            elif start < low or start + length > high:
                return -1, -1
    return low, high


@numba.njit(nogil=True, cache=True)
def _has_rival(
    start: Integer,
    end: Integer,
    found: np.ndarray,
    meanings: np.ndarray,
    offsets: np.ndarray,
    word_offsets: np.ndarray,
    words: np.ndarray,
) -> bool:
    """Tell whether a word outside a fragment has one of the words found as its translation."""
    for word in range(len(meanings)):
        if start <= word < end:
            continue
        for translation in range(offsets[meanings[word]], offsets[meanings[word] + 1]):
            if word_offsets[translation + 1] - word_offsets[translation] != 1:
                continue
            meaning = words[word_offsets[translation]]
            for other in found:
                if other == meaning:
                    return True
    return False


@numba.njit(nogil=True, cache=True)
def take_fragments(
    active: np.ndarray,
    bounds: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    fragments: np.ndarray,
    offsets: np.ndarray,
    word_offsets: np.ndarray,
    words: np.ndarray,
    source_offsets: np.ndarray,
    meanings: np.ndarray,
    target_offsets: np.ndarray,
    target_words: np.ndarray,
    target_wordlike: np.ndarray,
    target_cuts: np.ndarray,
    free: int,
    taken: np.ndarray,
    counts: np.ndarray,
    tried: np.ndarray,
) -> None:
    """Take the fragments of pairs whose translations are found, in their order.

    A translation must be found once (`_find_once`), hold a word, lie where a tag may stand, and
    nest with what was taken before. Where the meanings of single words are known, no word outside
    the fragment may have one of the words found among its own.

    Args:
        active: The pairs that want more, int64 ``[active]``.
        bounds: Where each one's fragments begin, int64 ``[active + 1]``.
        starts: First word of each fragment, int16 ``[fragment]``.
        ends: The word behind it, int16 ``[fragment]``.
        fragments: Its number among the translated ones, int64 ``[fragment]``.
        offsets: Where the translations of each of these begin, best first, int64.
        word_offsets: Where each translation's words begin, int64.
        words: Hashes of their words, uint64.
        source_offsets: Where each pair's source words begin, int64 ``[pair + 1]``, from 0.
        meanings: The number of each source word among the translated fragments, int64 ``[word]``;
            or ``[0]``.
        target_offsets: Where each pair's target words begin, int64 ``[pair + 1]``, from 0.
        target_words: Their hashes, uint64.
        target_wordlike: Which count as words, bool ``[word]``.
        target_cuts: Where a tag may stand, bool ``[word + pair]``.
        free: 1 if tags may cross.
        taken: Receives source start, source end, target start and target end of what is taken,
            int16 ``[pair, most, 4]``.
        counts: Is raised by their number, int64 ``[pair]``.
        tried: Is raised by the fragments looked at, int64 ``[pair]``.
    """
    most = taken.shape[1]
    for place in range(len(active)):
        pair = active[place]
        at = target_offsets[pair]
        sentence = target_words[at : target_offsets[pair + 1]]
        cuts = target_cuts[at + pair : target_offsets[pair + 1] + pair + 1]
        own = meanings
        if len(meanings):
            own = meanings[source_offsets[pair] : source_offsets[pair + 1]]
        for fragment in range(bounds[place], bounds[place + 1]):
            count = counts[pair]
            if count == most:
                break
            tried[pair] += 1
            number = fragments[fragment]
            low, high = _find_once(
                sentence, offsets[number], offsets[number + 1], word_offsets, words
            )
            if low < 0 or not (cuts[low] and cuts[high]):
                continue
            if not target_wordlike[at + low : at + high].any():
                continue
            start, end = np.int64(starts[fragment]), np.int64(ends[fragment])
            if _has_rival(start, end, sentence[low:high], own, offsets, word_offsets, words):
                continue
            taken[pair, count, 0] = start
            taken[pair, count, 1] = end
            taken[pair, count, 2] = low
            taken[pair, count, 3] = high
            boxes = taken[pair].T
            fits = True
            for earlier in range(count):
                if not free and not nests(boxes, np.int64(count), np.int64(earlier)):
                    fits = False
            counts[pair] += fits
