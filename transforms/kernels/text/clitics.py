"""Splits of words with an apostrophe or a colon into tokens: elisions, clitics and suffixes."""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.uncounted import uncounted

NO_CLITICS = 0
ENGLISH = 1
FRENCH = 2
ITALIAN = 3
CATALAN = 4
TURKISH = 5
FINNISH = 6
KOREAN = 7

MAX_PLACES = 16
"""Maximum number of splits of a word."""


@uncounted
def _lower(data: np.ndarray, at: Integer) -> Integer:
    byte = np.int64(data[at])
    return byte + 32 if 65 <= byte <= 90 else byte


@numba.njit(nogil=True, cache=True)
def _is_among(byte: Integer, letters: tuple[int, ...]) -> bool:
    for letter in letters:  # noqa: SIM110 - Numba has no any() of a generator
        if byte == letter:
            return True
    return False


@uncounted
def _is_english_clitic(data: np.ndarray, at: Integer, end: Integer) -> bool:
    """Tell whether the letters after an apostrophe are 's 'm 'd 're 've 'll."""
    if end - at == 1:
        return _is_among(_lower(data, at), (115, 109, 100))
    if end - at == 2:
        first = _lower(data, at)
        second = _lower(data, at + 1)
        return ((first == 114 or first == 118) and second == 101) or (first == 108 == second)
    return False


@uncounted
def _clitic_end(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Return the end of ASCII letters before an apostrophe or the word's end; else ``at``."""
    stop = at
    while stop < end and 97 <= _lower(data, stop) <= 122:
        stop += 1
    if stop == end:
        return stop
    point, _ = utf8.decode(data, stop, end)
    return stop if point == 0x27 or point == 0x2019 else at


@uncounted
def _is_french_elision(data: np.ndarray, at: Integer, end: Integer) -> bool:
    """Tell whether letters are one of c d j l m n s t ç, or end in ``qu``."""
    if end - at == 1:
        return _is_among(_lower(data, at), (99, 100, 106, 108, 109, 110, 115, 116))
    if end - at == 2 and data[at] == 0xC3 and _is_among(data[at + 1], (0x87, 0xA7)):  # Ç ç
        return True
    return bool(end - at >= 2 and _lower(data, end - 2) == 113 and _lower(data, end - 1) == 117)


@uncounted
def _is_catalan_enclitic(data: np.ndarray, at: Integer, end: Integer) -> bool:
    """Tell whether the letters after an apostrophe are 'l 'ls 'm 'n 'ns 's 't."""
    if end - at == 1:
        return _is_among(_lower(data, at), (108, 109, 110, 115, 116))
    return end - at == 2 and _lower(data, at + 1) == 115 and _is_among(_lower(data, at), (108, 110))


@uncounted
def split_places(
    data: np.ndarray,
    begin: Integer,
    end: Integer,
    language: int,
    words_only: int,
    properties: np.ndarray,
    places: np.ndarray,
) -> Integer:
    """Find the byte positions at which a word is split, in ascending order.

    French, Italian and Catalan words are split after the apostrophe of an elision (l', qu', dell'),
    English and Catalan words before a clitic ('s, n't; 'ls), although a clitic is not a word.
    Turkish separates the suffixes of names with an apostrophe (Ankara'da, but O'Reilly), Finnish
    and Swedish separate the suffixes of abbreviations with a colon (USB:n, EU:s); a tag may be
    placed there. In Korean an apostrophe before a particle is a quotation mark ('파일'을), a token
    of its own.

    Args:
        data: UTF-8, uint8 ``[byte]``.
        begin: First byte of the word.
        end: End of the word, exclusive.
        language: `ENGLISH`, `FRENCH`, `ITALIAN`, `CATALAN`, `TURKISH`, `FINNISH` or
            `KOREAN`.
        words_only: 1 to keep clitics with their words.
        properties: Properties of every code point, uint16.
        places: Receives the positions, ``[MAX_PLACES]``.

    Returns:
        The number of positions.
    """
    count = 0
    at: Integer = begin
    left: Integer = begin
    before: Integer = begin
    previous = 0
    earlier = 0
    while at < end and count < MAX_PLACES:
        point, width = utf8.decode(data, at, end)
        after: Integer = at + width
        place: Integer = -1
        if (point == 0x27 or point == 0x2019) and at > left and after < end:
            following, _ = utf8.decode(data, after, end)
            bare = not properties[following] & utf8.MARK
            loose = not previous & utf8.PREPEND
            if language == FRENCH:
                if bare and _is_french_elision(data, left, at):
                    place = after
            elif language == ITALIAN:
                if bare:
                    place = after
            elif language == CATALAN:
                if (
                    at - left == 1
                    and bare
                    and _is_among(_lower(data, left), (100, 108, 109, 110, 115, 116))
                ):
                    place = after
                elif not words_only and loose and _is_catalan_enclitic(data, after, end):
                    place = at
            elif language == TURKISH:
                if loose and before > left:
                    place = at
            elif language == KOREAN:
                if 0xAC00 <= following <= 0xD7A3 and loose and count + 1 < MAX_PLACES:
                    places[count] = at
                    count += 1
                    left = at
                    place = after
            elif language == ENGLISH and not words_only:
                stop = _clitic_end(data, after, end)
                if stop == after:
                    pass
                elif loose and _is_english_clitic(data, after, stop):
                    place = at
                elif (
                    stop == after + 1
                    and _lower(data, after) == 116
                    and before > left
                    and _lower(data, before) == 110
                    and not earlier & utf8.PREPEND
                ):
                    place = before
        elif language == FINNISH and point == 0x3A and after < end and not previous & utf8.PREPEND:
            place = at
        if place > left:
            places[count] = place
            count += 1
            left = place
        before = at
        earlier = previous
        previous = properties[point]
        at = after
    return count
