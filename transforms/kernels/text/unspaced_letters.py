"""Letters of scripts without spaces between words, each of which is a token by itself."""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text.utf8 import CLASS, MARK, NUMERIC, WORD, FlatTexts, decode

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
def kind_of(point: Integer) -> Integer:
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
            point, width = decode(data, at, end)
            at += width
            is_stacked = before == _STACKED[0] or before == _STACKED[1]
            before = np.int64(point)
            kind = kind_of(point)
            if kind < 0 or is_stacked:
                continue
            bits = properties[point]
            if bits & WORD and not bits & MARK and bits & CLASS != NUMERIC:
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
