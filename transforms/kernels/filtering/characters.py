"""Characters and words of texts: counts of letters by script, and repeated words.

A word is a run of letters, marks and digits; in a script without spaces it is one letter with its
marks. A table gives the properties of every code point, with scripts
(`transforms.text.codepoints.all_properties`).
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.text.utf8 import decode, step_back
from pairweave.transforms.kernels.uncounted import uncounted

MAX_PERIOD = 8
"""Maximum length of a block of words that is checked for repetition."""

OFFSET = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
"""Constants of the 64-bit FNV-1a hash (Fowler, Noll and Vo)."""


class Characters(NamedTuple):
    """Counts of the characters of each text, int64 ``[text]``.

    Attributes:
        visible: Characters other than white space.
        letters: Letters and marks.
        expected: Letters, without marks, of the scripts that are expected or of no script.
        other: Letters, without marks, of the scripts of the other side.
        bases: Letters without marks.
        written: Words separated by white space, with each letter of a script without spaces as a
            word.
    """

    visible: np.ndarray
    letters: np.ndarray
    expected: np.ndarray
    other: np.ndarray
    bases: np.ndarray
    written: np.ndarray


class Words(NamedTuple):
    """The words of texts.

    Attributes:
        offsets: Start of each text's words, int64 ``[text + 1]``.
        hashes: FNV-1a of each word's UTF-8, uint64 ``[word]``.
        lengths: Length of each word in code points, int32 ``[word]``.
        capital: Whether it begins with a capital letter or a digit, bool ``[word]``.
    """

    offsets: np.ndarray
    hashes: np.ndarray
    lengths: np.ndarray
    capital: np.ndarray


@numba.njit(nogil=True, cache=True)
def scan(
    data: np.ndarray,
    offsets: np.ndarray,
    properties: np.ndarray,
    expected_scripts: np.ndarray,
    other_scripts: np.ndarray,
) -> tuple[Characters, Words]:
    """Count the characters of texts and find their words.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        properties: Properties of every code point, with scripts, uint32.
        expected_scripts: Bits of the scripts of each text's language, uint64 ``[text]``.
        other_scripts: Bits of the scripts that only the other side has, uint64 ``[text]``.
    """
    texts = len(offsets) - 1
    visible = np.zeros(texts, np.int64)
    letters = np.zeros(texts, np.int64)
    expected = np.zeros(texts, np.int64)
    other = np.zeros(texts, np.int64)
    bases = np.zeros(texts, np.int64)
    written = np.zeros(texts, np.int64)
    word_offsets = np.zeros(texts + 1, np.int64)
    room = int(offsets[texts] - offsets[0]) + 1
    hashes = np.empty(room, np.uint64)
    lengths = np.empty(room, np.int32)
    capital = np.empty(room, np.bool_)
    words = 0
    one = np.uint64(1)
    for text in range(texts):
        at = offsets[text]
        end = offsets[text + 1]
        wanted = expected_scripts[text] | one
        foreign = other_scripts[text]
        length = 0
        digest = OFFSET
        inside = False
        while at < end:
            point, width = decode(data, at, end)
            kind = np.int64(properties[point])
            if kind & utf8.WHITE:
                inside = False
            else:
                visible[text] += 1
                alone = kind & utf8.UNSPACED != 0 and not kind & utf8.COMBINING
                written[text] += 1 if alone or not inside else 0
                inside = True
            if kind & utf8.ALPHABETIC:
                letters[text] += 1
                if not kind & utf8.COMBINING:
                    script = one << np.uint64((kind & utf8.SCRIPT) >> utf8.SCRIPT_SHIFT)
                    bases[text] += 1
                    expected[text] += 1 if script & wanted else 0
                    other[text] += 1 if script & foreign else 0
            if kind & (utf8.ALPHABETIC | utf8.DIGIT):
                if length and kind & utf8.UNSPACED and not kind & utf8.COMBINING:
                    hashes[words] = digest
                    lengths[words] = length
                    words += 1
                    length = 0
                    digest = OFFSET
                if length == 0:
                    capital[words] = kind & (utf8.CAPITAL | utf8.DIGIT) != 0
                for byte in range(at, at + width):
                    digest = (digest ^ np.uint64(data[byte])) * PRIME
                length += 1
            elif length:
                hashes[words] = digest
                lengths[words] = length
                words += 1
                length = 0
                digest = OFFSET
            at += width
        if length:
            hashes[words] = digest
            lengths[words] = length
            words += 1
        word_offsets[text + 1] = words
    counts = Characters(visible, letters, expected, other, bases, written)
    return counts, Words(
        word_offsets, hashes[:words].copy(), lengths[:words].copy(), capital[:words].copy()
    )


@numba.njit(nogil=True, cache=True)
def copied(
    source: Words,
    target: Words,
    names: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of target words, and of their characters, that also occur in the source.

    Each source word accounts for one equal target word.

    Args:
        source: Words of the sources.
        target: Words of the targets.
        names: Whether words that begin with a capital letter or a digit are left out ``[pair]``.

    Returns:
        float32 ``[pair]`` twice; 0 if no target word counts.
    """
    pairs = len(source.offsets) - 1
    by_word = np.zeros(pairs, np.float32)
    by_character = np.zeros(pairs, np.float32)
    longest = 1
    for pair in range(pairs):
        longest = max(longest, source.offsets[pair + 1] - source.offsets[pair])
    size = 4
    while size < 2 * longest:
        size *= 2
    keys = np.zeros(size, np.uint64)
    times = np.zeros(size, np.int32)
    mask = np.uint64(size - 1)
    for pair in range(pairs):
        first, last = source.offsets[pair], source.offsets[pair + 1]
        for word in range(first, last):
            slot = _slot(keys, times, mask, source.hashes[word])
            keys[slot] = source.hashes[word]
            times[slot] += 1
        words = 0
        copied_words = 0
        characters = 0
        copied_characters = 0
        for word in range(target.offsets[pair], target.offsets[pair + 1]):
            if names[pair] and target.capital[word]:
                continue
            words += 1
            characters += target.lengths[word]
            slot = _slot(keys, times, mask, target.hashes[word])
            if times[slot] > 0:
                copied_words += 1
                copied_characters += target.lengths[word]
                times[slot] = times[slot] - 1 if times[slot] > 1 else _SPENT
        if words:
            by_word[pair] = copied_words / words
            by_character[pair] = copied_characters / characters
        times[:] = 0
    return by_word, by_character


_SPENT = -1
"""Marks a source word whose copies are all used; 0 would free its slot."""


@uncounted
def _slot(keys: np.ndarray, times: np.ndarray, mask: np.uint64, key: np.uint64) -> Integer:
    """Return the slot of a key, or the free one where it would go."""
    slot = np.int64((key ^ (key >> np.uint64(29))) & mask)
    while times[slot] != 0 and keys[slot] != key:
        slot = np.int64(np.uint64(slot + 1) & mask)
    return slot


@numba.njit(nogil=True, cache=True)
def repetition(words: Words) -> np.ndarray:
    """Return the largest share of a text's words that is a repetition of one block.

    A block of one to `MAX_PERIOD` words counts if it occurs three times or more in a row.

    Returns:
        float32 ``[text]``; 0 if no block is repeated.
    """
    texts = len(words.offsets) - 1
    shares = np.zeros(texts, np.float32)
    for text in range(texts):
        first = words.offsets[text]
        count = words.offsets[text + 1] - first
        most = 0
        for period in range(1, min(MAX_PERIOD, count // 3) + 1):
            run = 0
            for word in range(first + period, first + count):
                run = run + 1 if words.hashes[word] == words.hashes[word - period] else 0
                if run >= 2 * period:
                    most = max(most, run + period)
        if most:
            shares[text] = most / count
    return shares


@numba.njit(nogil=True, cache=True)
def mean_lengths(words: Words) -> np.ndarray:
    """Return the mean length of each text's words in code points, float32 ``[text]``; 0 without."""
    texts = len(words.offsets) - 1
    means = np.zeros(texts, np.float32)
    for text in range(texts):
        first, last = words.offsets[text], words.offsets[text + 1]
        total = 0
        for word in range(first, last):
            total += words.lengths[word]
        if last > first:
            means[text] = total / (last - first)
    return means


@numba.njit(nogil=True, cache=True)
def last_characters(data: np.ndarray, offsets: np.ndarray, properties: np.ndarray) -> np.ndarray:
    """Return the last code point of each text that ends it: a letter, a digit or a mark.

    Closing marks, white space, marks on letters and invisible code points do not count.

    Returns:
        int32 ``[text]``; 0 if there is none.
    """
    texts = len(offsets) - 1
    last = np.zeros(texts, np.int32)
    for text in range(texts):
        at = offsets[text + 1]
        while at > offsets[text]:
            before = step_back(data, at, offsets[text])
            point, _ = decode(data, before, at)
            if not properties[point] & (utf8.WHITE | utf8.CLOSING | utf8.BLANK | utf8.MARK):
                last[text] = point
                break
            at = before
    return last
