"""What a line shows without a model: its length, its numbers, its names, its words, its end.

Words of a line become bits of a signature of 64 bits, so that what two lines share is one operation
on integers. About three words in four share no bit with another word of a line of twenty words;
what the rest share by accident is measured on lines that do not belong together, and weighed
accordingly.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.filtering.characters import OFFSET, PRIME
from pairweave.transforms.kernels.filtering.numbers import zero_of
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text.utf8 import (
    ALPHABETIC,
    BLANK,
    CAPITAL,
    CLOSING,
    DIGIT,
    FlatTexts,
    decode,
)
from pairweave.transforms.kernels.uncounted import uncounted

NAME_LETTERS = 4
"""Letters at the beginning of a capitalized word that count: endings differ between languages."""

WORD_LETTERS = 5
"""Letters at the beginning of any other word that count; a shorter word does not count."""

FOLDED = 0x250
"""Code points below this have an entry in the table of letters without accents."""

QUESTION, EXCLAMATION, STOP, COLON, OTHER_MARK = 1, 2, 3, 4, 5
"""Kinds of marks at the end of a line."""

_STOPS = (
    *(0x2E, 0x2026, 0x3002, 0xFF61, 0xFF0E),
    *(0x964, 0x965, 0x6D4, 0x589, 0x104B, 0x1362, 0x17D4, 0x17D5, 0xF0D),
)

TAG = 1
"""``<`` and a letter, or ``</`` and a letter, with a ``>`` after it."""
BRACES = 2
"""A name or number in braces, or empty braces."""
PERCENT = 4
"""A placeholder of printf."""
REPLACED = 8
"""U+FFFD, which marks where a character was lost."""
MOJIBAKE = 16
"""UTF-8 that was read as windows-1252."""

_LONGEST_NAME = 40
"""Maximum characters in braces that may be a placeholder."""


class LineFeatures(NamedTuple):
    """Features of the lines of one side.

    Attributes:
        points: Code points that are not blank, int32 ``[line]``.
        numbers: Signature of the groups of digits, uint64 ``[line]``.
        names: Signature of the beginnings of capitalized words, uint64 ``[line]``.
        words: Signature of the beginnings of other words, uint64 ``[line]``.
        ends: Kind of the last character, int8 ``[line]``: 0 for a letter or digit, else the kind
            of the mark.
        marks: Which of `TAG` and the other marks the line has, uint8 ``[line]``.
        hashes: A hash of the line, uint64 ``[line]``.
    """

    points: np.ndarray
    numbers: np.ndarray
    names: np.ndarray
    words: np.ndarray
    ends: np.ndarray
    marks: np.ndarray
    hashes: np.ndarray


@numba.njit(nogil=True, cache=True)
def _bit(digest: np.uint64) -> np.uint64:
    mixed = digest ^ (digest >> np.uint64(29))
    mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
    return np.uint64(1) << (mixed >> np.uint64(58))


@numba.njit(nogil=True, cache=True)
def end_kind(point: Integer) -> Integer:
    """Return the kind of a mark at the end of a line."""
    if point in (0x3F, 0xFF1F, 0x61F, 0x1367, 0x37E):
        return QUESTION
    if point in (0x21, 0xFF01):
        return EXCLAMATION
    if point in _STOPS:
        return STOP
    if point in (0x3A, 0xFF1A, 0x1365, 0x3B, 0xFF1B, 0x61B, 0x1364):
        return COLON
    return OTHER_MARK


@numba.njit(nogil=True, cache=True)
def _is_letter(byte: int) -> bool:
    return 0x61 <= (byte | 0x20) <= 0x7A


@numba.njit(nogil=True, cache=True)
def _is_name(byte: int) -> bool:
    return _is_letter(byte) or 0x30 <= byte <= 0x39 or byte in (0x5F, 0x2E, 0x2D, 0x5B, 0x5D)


@uncounted
def _marks_at(data: np.ndarray, at: Integer, begin: Integer, end: Integer) -> Integer:
    """Return what begins at a byte: a tag, braces, a placeholder of printf, or nothing."""
    byte = data[at]
    if at + 1 == end:
        return 0
    after = data[at + 1]
    if byte == 0x3C:  # <
        if after == 0x2F and at + 2 < end:
            after = data[at + 2]
        if not _is_letter(after):
            return 0
        for place in range(at + 2, end):
            if data[place] == 0x3E:
                return TAG
            if data[place] == 0x3C:
                return 0
    elif byte == 0x7B:  # {
        for place in range(at + 1, min(end, at + _LONGEST_NAME)):
            if data[place] == 0x7D:
                return BRACES
            if not _is_name(data[place]):
                return 0
    elif byte == 0x25 and not (at > begin and 0x30 <= data[at - 1] <= 0x39):  # %
        if after in (0x73, 0x64, 0x69, 0x75, 0x66, 0x40, 0x78):
            return PERCENT
        if 0x31 <= after <= 0x39:
            return PERCENT
    return 0


@numba.njit(nogil=True, cache=True)
def line_features(texts: FlatTexts, properties: np.ndarray, folded: np.ndarray) -> LineFeatures:
    """Measure lines.

    Args:
        texts: The lines.
        properties: Properties of every code point (`transforms.text.codepoints.all_properties`).
        folded: For each code point below `FOLDED` its letter in lower case without accents, int32
            ``[FOLDED]``.

    Returns:
        Their features.
    """
    data, offsets = texts
    lines = len(offsets) - 1
    points = np.zeros(lines, np.int32)
    numbers = np.zeros(lines, np.uint64)
    names = np.zeros(lines, np.uint64)
    words = np.zeros(lines, np.uint64)
    ends = np.zeros(lines, np.int8)
    marks = np.zeros(lines, np.uint8)
    hashes = np.zeros(lines, np.uint64)
    for line in range(lines):
        begin = offsets[line]
        end = offsets[line + 1]
        at = begin
        letters: Integer = 0  # of the word so far
        in_number = False
        capital = False
        name_digest = OFFSET
        word_digest = OFFSET
        number_digest = OFFSET
        line_digest = OFFSET
        last: Integer = 0
        previous: Integer = 0
        seen: Integer = 0
        line_marks: Integer = 0
        while at < end:
            point: Integer = np.int64(data[at])
            width: Integer = 1
            if point >= 0x80:
                point, width = decode(data, at, end)
                if point == 0xFFFD:
                    line_marks |= REPLACED
                elif (previous in (0xC2, 0xC3) and point < 0xC0) or (
                    previous == 0xE2 and (point == 0x20AC or point < 0xA0)
                ):
                    line_marks |= MOJIBAKE
            elif point in (0x3C, 0x7B, 0x25):
                line_marks |= _marks_at(data, at, begin, end)
            at = at + width
            previous = point
            line_digest = (line_digest ^ np.uint64(point)) * PRIME
            bits = properties[point]
            if bits & DIGIT:
                in_number = True
                value = point - zero_of(point, properties)
                number_digest = (number_digest ^ np.uint64(value)) * PRIME
            elif in_number:
                numbers[line] |= _bit(number_digest)
                in_number = False
                number_digest = OFFSET
            if bits & ALPHABETIC:
                if letters == 0:
                    capital = bits & CAPITAL != 0
                if letters < WORD_LETTERS:
                    base = np.int64(folded[point]) if point < FOLDED else point
                    word_digest = (word_digest ^ np.uint64(base)) * PRIME
                    if letters < NAME_LETTERS:
                        name_digest = word_digest
                letters += 1
            elif letters:
                if capital and letters > 1:
                    names[line] |= _bit(name_digest)
                elif letters >= WORD_LETTERS:
                    words[line] |= _bit(word_digest)
                letters = 0
                word_digest = OFFSET
            if not bits & BLANK:
                seen += 1
                if not bits & CLOSING:
                    last = point
        if in_number:
            numbers[line] |= _bit(number_digest)
        if letters and capital and letters > 1:
            names[line] |= _bit(name_digest)
        elif letters >= WORD_LETTERS:
            words[line] |= _bit(word_digest)
        points[line] = seen
        marks[line] = line_marks
        hashes[line] = line_digest
        if last and not properties[last] & (ALPHABETIC | DIGIT):
            ends[line] = end_kind(last)
    return LineFeatures(points, numbers, names, words, ends, marks, hashes)
