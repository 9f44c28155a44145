"""Fragments of sources whose translation occurs in the target (Hanneman and Dinu 2020, 3.1).

Words are hashes of their folded letters (`transforms.kernels.text.words`), so that a word
is the same at the start of a sentence and inside it.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.links.nesting import nests
from pairweave.transforms.kernels.text.spans import FlatSpans
from pairweave.transforms.kernels.uncounted import uncounted


class Sentences(NamedTuple):
    """The words of one side of some pairs.

    Attributes:
        offsets: Start of each sentence's words, int64 ``[pair + 1]``, from 0.
        words: Hashes, uint64 ``[word]``.
        wordlike: Whether each has a letter or a digit, bool ``[word]``.
        cuts: Borders at which a tag is allowed (`transforms.text.whole_words.find_cuts`), bool
            ``[word + pair]``.
    """

    offsets: np.ndarray
    words: np.ndarray
    wordlike: np.ndarray
    cuts: np.ndarray


class Translations(NamedTuple):
    """Translations of fragments.

    Attributes:
        offsets: Start of each fragment's translations, best first, int64 ``[fragment + 1]``.
        word_offsets: Start of each translation's words, int64 ``[translation + 1]``.
        words: Hashes of folded words, uint64 ``[word]``.
    """

    offsets: np.ndarray
    word_offsets: np.ndarray
    words: np.ndarray


class Meanings(NamedTuple):
    """The translated fragment that each source word is by itself.

    Attributes:
        offsets: Start of each pair's source words, int64 ``[pair + 1]``, from 0.
        numbers: Number of the translated fragment, int64 ``[word]``; ``[0]`` if single words are
            not translated.
    """

    offsets: np.ndarray
    numbers: np.ndarray


class Taken(NamedTuple):
    """The fragments that were accepted in each pair.

    Attributes:
        boxes: Source start, source end, target start and target end, in words, int16
            ``[pair, most, 4]``.
        counts: Number of accepted fragments, int64 ``[pair]``.
        tried: Number of tried fragments, int64 ``[pair]``.
    """

    boxes: np.ndarray
    counts: np.ndarray
    tried: np.ndarray


@uncounted
def count_occurrences(words: np.ndarray, wanted: np.ndarray) -> Integer:
    """Count the occurrences of a run of words among others."""
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
    sentences: Sentences,
    max_words: int,
) -> FlatSpans:
    """List the fragments of sentences in random order.

    A fragment is a run of words that contains a letter or a digit, begins and ends where a tag is
    allowed, and occurs once in its sentence: for a repeated run it is unknown which occurrence was
    translated.

    Args:
        run_seed: The run's seed.
        keys: Keys of the pairs, uint64 ``[pair]``.
        sentences: The source sentences.
        max_words: Maximum number of words of a fragment.

    Returns:
        The fragments of each pair, in words, int16.
    """
    offsets, words, wordlike, cuts = sentences
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
                if real and free[end] and count_occurrences(sentence, sentence[start:end]) == 1:
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
    return FlatSpans(begins, starts[:count].copy(), ends[:count].copy())


@numba.njit(nogil=True, cache=True)
def next_fragments(
    active: np.ndarray,
    fragments: FlatSpans,
    cursors: np.ndarray,
    already: Taken,
    step: int,
    free: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next fragments of some pairs, without those that cross an accepted one.

    Args:
        active: The pairs, int64 ``[active]``.
        fragments: From `list_fragments`.
        cursors: The next fragment of each pair, int64 ``[pair]``; moved forward in place.
        already: The accepted fragments.
        step: Maximum number of fragments of a pair.
        free: 1 if tags may cross.

    Returns:
        Where each active pair's fragments begin, int64 ``[active + 1]``, and the fragments, int64.
    """
    begins, starts, ends = fragments
    taken, counts, _ = already
    bounds = np.zeros(len(active) + 1, np.int64)
    chosen = np.empty(len(active) * step, np.int64)
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
                chosen[count] = at
                count += 1
            at += 1
        cursors[pair] = at
        bounds[place + 1] = count
    return bounds, chosen[:count].copy()


@uncounted
def _find_once(
    sentence: np.ndarray,
    first: Integer,
    end: Integer,
    word_offsets: np.ndarray,
    words: np.ndarray,
) -> tuple[int, int]:
    """Return the only place where one of several translations occurs; else (-1, -1).

    The place of the best translation counts. Places inside it do not make it ambiguous.
    """
    low, high = -1, -1
    for translation in range(first, end):
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


@uncounted
def _has_rival(
    start: Integer,
    end: Integer,
    translated: np.ndarray,
    meanings: np.ndarray,
    offsets: np.ndarray,
    word_offsets: np.ndarray,
    words: np.ndarray,
) -> bool:
    """Tell whether a word outside the fragment has a word of its translation, too."""
    for word in range(len(meanings)):
        if start <= word < end:
            continue
        for translation in range(offsets[meanings[word]], offsets[meanings[word] + 1]):
            if word_offsets[translation + 1] - word_offsets[translation] != 1:
                continue
            meaning = words[word_offsets[translation]]
            for other in translated:
                if other == meaning:
                    return True
    return False


@uncounted
def take_fragments(
    active: np.ndarray,
    fragments: FlatSpans,
    numbers: np.ndarray,
    translations: Translations,
    source_meanings: Meanings,
    targets: Sentences,
    free: int,
    already: Taken,
) -> None:
    """Accept fragments whose translations occur in the target, in their order.

    A translation must occur once (`_find_once`), contain a word, begin and end where a tag is
    allowed, and nest with accepted fragments. If single words are translated, none outside the
    fragment may be translated by a word of its translation.

    Args:
        active: The pairs that need more, int64 ``[active]``.
        fragments: The fragments of each of these pairs, in words, int16.
        numbers: Number of each fragment among the translated ones, int64 ``[fragment]``.
        translations: The translations.
        source_meanings: The translated fragment of each source word.
        targets: The target sentences.
        free: 1 if tags may cross.
        already: The accepted fragments; extended in place.
    """
    bounds, starts, ends = fragments
    offsets, word_offsets, words = translations
    source_offsets, meanings = source_meanings
    target_offsets, target_words, target_wordlike, target_cuts = targets
    taken, counts, tried = already
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
            number = numbers[fragment]
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
