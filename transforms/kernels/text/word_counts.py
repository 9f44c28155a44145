"""Words of texts: tokens and phrases that contain a letter or a digit, and numbers of words.

In scripts without spaces between words, each letter is a token by itself.
"""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.text.utf8 import FlatTexts
from pairweave.transforms.kernels.uncounted import uncounted

SYLLABIC, IDEOGRAPH, KANA = 0, 1, 2
"""Thai, Lao, Tibetan, Burmese and Khmer; ideographs of Chinese and Japanese; kana."""

KINDS = 3

# Number of letters of a script without spaces that count as one word of English: with it, message
# catalogues of programs (239 to 2,594 messages per language) have about the same number of words on
# both sides. Measured there: Thai 3.3 letters without marks, Burmese 2.4, Khmer about 3.4 (without
# letters written under others); Chinese 1.2 to 1.3; Japanese 1.6 kana and 0.5 ideographs.
_LETTERS_IN_WORD = {SYLLABIC: 3.5, IDEOGRAPH: 1.5, KANA: 3.0}

_STACKED = (0x1039, 0x17D2)
"""Burmese virama and Khmer coeng: the letter after one is written under the letter before it."""

_FIRST_LEAD = 0xE0
"""Lead byte of the first code point of any of them (UTF-8); no byte inside a sequence is as
large."""


@uncounted
def _is_ascii(data: np.ndarray, begin: int, end: int) -> bool:
    high = np.uint8(0)
    for at in range(begin, end):
        high |= data[at]
    return bool(high < 0x80)


@numba.njit(nogil=True, cache=True)
def mark_wordlike(
    data: np.ndarray,
    offsets: np.ndarray,
    token_offsets: np.ndarray,
    token_starts: np.ndarray,
    token_ends: np.ndarray,
    properties: np.ndarray,
) -> np.ndarray:
    """Flag tokens that contain a letter or a digit.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        token_offsets: Tokens of each text ``[text + 1]``; the first need not be 0.
        token_starts: Start of each token in code points, ascending and disjoint within a text,
            int32 ``[token]``.
        token_ends: End of each token, exclusive, int32 ``[token]``.
        properties: Properties of every code point, uint16
            (`transforms.text.codepoints.properties`).

    Returns:
        Booleans of all texts, concatenated, ``[token]``; the first is the first text's first token.
    """
    marks = np.zeros(token_offsets[len(offsets) - 1] - token_offsets[0], np.bool_)
    place = 0
    for text in range(len(offsets) - 1):
        at = offsets[text]
        end = offsets[text + 1]
        position = 0
        ascii_only = _is_ascii(data, at, end)
        for token in range(token_offsets[text], token_offsets[text + 1]):
            start = token_starts[token]
            stop = token_ends[token]
            wordlike = False
            if ascii_only:
                for byte in range(at + start, at + stop):
                    if properties[data[byte]] & utf8.WORD:
                        wordlike = True
                        break
            else:
                while at < end and position < stop:
                    if position >= start and not wordlike:
                        point, width = utf8.decode(data, at, end)
                        wordlike = properties[point] & utf8.WORD != 0
                        at += width
                    else:
                        at += 1
                        while at < end and data[at] & 0xC0 == 0x80:
                            at += 1
                    position += 1
            marks[place] = wordlike
            place += 1
    return marks


@numba.njit(nogil=True, cache=True)
def count_spaced_words(data: np.ndarray, offsets: np.ndarray, properties: np.ndarray) -> np.ndarray:
    """Count the words between white space that contain a letter or a digit.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        properties: Properties of every code point, uint16
            (`transforms.text.codepoints.properties`).

    Returns:
        int64 ``[text]``.
    """
    counts = np.zeros(len(offsets) - 1, np.int64)
    for text in range(len(counts)):
        at = offsets[text]
        end = offsets[text + 1]
        counted = False  # the word at ``at`` is counted
        while at < end:
            point: Integer = np.int64(data[at])
            width: Integer = 1
            if point >= 0x80:
                point, width = utf8.decode(data, at, end)
            if properties[point] & utf8.WHITE:
                counted = False
            elif not counted and properties[point] & utf8.WORD:
                counted = True
                counts[text] += 1
            at += width
    return counts


@uncounted
def require_wordlike(
    phrase_offsets: np.ndarray,
    first: np.ndarray,
    ends: np.ndarray,
    token_offsets: np.ndarray,
    wordlike: np.ndarray,
    fits: np.ndarray,
) -> None:
    """Clear the flags of phrases without a token that contains a letter or a digit.

    Args:
        phrase_offsets: Start of each pair's phrases, int64 ``[pair + 1]``.
        first: First token of each phrase ``[phrase]``.
        ends: Token after the last of each phrase ``[phrase]``.
        token_offsets: Start of each pair's tokens, int64 ``[pair + 1]``.
        wordlike: From `mark_wordlike`, bool ``[token]``; its first is ``token_offsets[0]``.
        fits: Flags of the phrases, bool ``[phrase]``; changed in place.
    """
    for pair in range(len(phrase_offsets) - 1):
        base = token_offsets[pair] - token_offsets[0]
        for phrase in range(phrase_offsets[pair], phrase_offsets[pair + 1]):
            if not wordlike[base + first[phrase] : base + ends[phrase]].any():
                fits[phrase] = False


@numba.njit(nogil=True, cache=True)
def may_have_unspaced_letters(data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Flag texts that may have a letter of a script without spaces, bool ``[text]``.

    The first byte of such a letter is `_FIRST_LEAD` or above; general punctuation, from U+2000 to
    below U+2E80, is told apart by the second.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
    """
    flags = np.zeros(len(offsets) - 1, np.bool_)
    for text in range(len(flags)):
        possible = False
        before = np.uint8(0)
        for at in range(offsets[text], offsets[text + 1]):
            byte = data[at]
            possible |= (byte >= _FIRST_LEAD) & (byte != 0xE2)
            possible |= (before == 0xE2) & (byte >= 0xBA)
            before = byte
        flags[text] = possible
    return flags


@numba.njit(nogil=True, cache=True)
def unspaced_kind(point: Integer) -> Integer:
    """Return the kind of a code point's block; -1 for any other."""
    if point < 0x0E00:
        return -1
    if point <= 0x0FFF or 0x1000 <= point <= 0x109F or 0x1780 <= point <= 0x17FF:
        return SYLLABIC
    if point < 0x3040:
        return -1
    if point <= 0x30FF or 0x31F0 <= point <= 0x31FF or 0xFF66 <= point <= 0xFF9F:
        return KANA
    if 0x3400 <= point <= 0x9FFF or 0xF900 <= point <= 0xFAFF or 0x20000 <= point <= 0x3FFFF:
        return IDEOGRAPH
    return SYLLABIC if 0xA9E0 <= point <= 0xA9FF or 0xAA60 <= point <= 0xAA7F else -1


@numba.njit(nogil=True, cache=True)
def count_unspaced_letters(
    data: np.ndarray, offsets: np.ndarray, properties: np.ndarray
) -> np.ndarray:
    """Count the letters of each kind, without the marks and letters that belong to them.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        properties: Properties of every code point, uint16.

    Returns:
        int32 ``[text, KINDS]``.
    """
    counts = np.zeros((len(offsets) - 1, KINDS), np.int32)
    for text in range(len(counts)):
        at = offsets[text]
        end = offsets[text + 1]
        before = np.int64(0)
        while at < end:
            if data[at] < _FIRST_LEAD:
                at += 1
                before = np.int64(0)
                continue
            point, width = utf8.decode(data, at, end)
            at += width
            is_stacked = before == _STACKED[0] or before == _STACKED[1]
            before = np.int64(point)
            kind = unspaced_kind(point)
            if kind < 0 or is_stacked:
                continue
            bits = properties[point]
            if bits & utf8.WORD and not bits & utf8.MARK and bits & utf8.CLASS != utf8.NUMERIC:
                counts[text, kind] += 1
    return counts


def words_of_tokens(flat: FlatTexts, tokens: np.ndarray, properties: np.ndarray) -> np.ndarray:
    """Return the number of words of texts, in which each letter of unspaced scripts is a token.

    Args:
        flat: The texts ``[text]``.
        tokens: Number of tokens (``words``) of each text, int64 ``[text]``.
        properties: Properties of every code point, uint16.

    Returns:
        float64 ``[text]``; the number of tokens where there are no such letters.
    """
    letters = count_unspaced_letters(*flat, properties)
    words = tokens.astype(np.float64)
    for kind, size in _LETTERS_IN_WORD.items():
        words -= letters[:, kind] * (size - 1) / size
    return np.where(tokens > 0, np.maximum(words, 1.0), 0.0)
