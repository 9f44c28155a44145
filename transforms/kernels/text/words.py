"""Words of UTF-8 text as folded code points and hashes.

Two words that differ only in case, compatibility form, the script of digits or the encoding of
accents have the same folded form. The text itself is never changed.
"""

import functools
import unicodedata

import numba
import numpy as np

from pairweave.transforms.kernels.sampling import mix_all
from pairweave.transforms.kernels.text.utf8 import decode
from pairweave.transforms.kernels.uncounted import uncounted

PLANE = 0x10000
"""Code points from this one on are not folded."""

MAX_LETTERS = 32
"""More letters than one character can become (at most 18, for U+FDFA)."""

_SMALL_I = ord("i")
_DOT_ABOVE = 0x307

STEM_LETTERS = 4
"""Length of a stem in letters (four, as in Fraser and Marcu 2005)."""


def fold_character(character: str) -> str:
    """Return the case-folded compatibility decomposition (Unicode Standard, section 3.13, D145).

    Decimal digits become those of ASCII. An i has no dot above: that of ``İ`` is part of the small
    letter.

    >>> fold_character("É") == "e" + chr(0x301), fold_character("İ"), fold_character("٣")
    (True, 'i', '3')
    """
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    if character == "\N{RIGHT SINGLE QUOTATION MARK}":
        return "'"
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return folded.replace(f"i{chr(_DOT_ABOVE)}", "i")


@functools.cache
def folding() -> tuple[np.ndarray, np.ndarray]:
    """Return the folded forms of the first plane: offsets ``[65537]`` and code points."""
    offsets = np.zeros(PLANE + 1, dtype=np.int32)
    points: list[int] = []
    for point in range(PLANE):
        if 0xAC00 <= point <= 0xD7A3 or 0xD800 <= point <= 0xDFFF:
            # A Hangul syllable stays one letter: decomposed into jamo, many words would be alike.
            points.append(point)
        else:
            points.extend(map(ord, fold_character(chr(point))))
        offsets[point + 1] = len(points)
    return offsets, np.array(points, dtype=np.int32)


@numba.njit(nogil=True, cache=True)
def fold_tokens(
    data: np.ndarray,
    row_offsets: np.ndarray,
    token_offsets: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    fold_offsets: np.ndarray,
    fold_points: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Extract the folded tokens from UTF-8 text.

    Args:
        data: Text of all rows, valid UTF-8, uint8 ``[byte]``.
        row_offsets: Start of each row in ``data``, ``[row + 1]``.
        token_offsets: Start of each row's tokens, ``[row + 1]``.
        starts: First code point of each token within its row, sorted in a row, ``[token]``.
        ends: End of each token, exclusive, ``[token]``.
        fold_offsets: From `folding`.
        fold_points: From `folding`.

    Returns:
        Start of each token's letters ``[token + 1]``, and the letters, int32 ``[letter]``.
    """
    offsets = np.zeros(len(starts) + 1, dtype=np.int64)
    folding = fold_offsets, fold_points
    # The folded form of a row rarely has more letters than the row has bytes.
    room = np.int64(row_offsets[-1] - row_offsets[0]) + 64
    while True:
        letters = np.empty(room, dtype=np.int32)
        used = _fold(data, row_offsets, token_offsets, (starts, ends), folding, offsets, letters)
        if used >= 0:
            return offsets, letters[:used].copy()
        room *= 2


@numba.njit(nogil=True, cache=True)
def _fold(
    data: np.ndarray,
    row_offsets: np.ndarray,
    token_offsets: np.ndarray,
    tokens: tuple[np.ndarray, np.ndarray],
    folding: tuple[np.ndarray, np.ndarray],
    offsets: np.ndarray,
    letters: np.ndarray,
) -> int:
    """Write the folded tokens; return the number of their letters, or -1 if there is no room."""
    starts, ends = tokens
    fold_offsets, fold_points = folding
    # Folding leaves an ASCII character one letter.
    ascii_letters = fold_points[fold_offsets[:0x80]]
    # Unsigned, because Numba counts negative indices from the end, which takes time.
    one = np.uint64(1)
    used = np.uint64(0)
    for row in range(len(row_offsets) - 1):
        at, stop = np.uint64(row_offsets[row]), np.uint64(row_offsets[row + 1])
        index = 0
        for token in range(token_offsets[row], token_offsets[row + 1]):
            start, end = starts[token], ends[token]
            if start < index:  # overlapping tokens: read the row from its start
                at = np.uint64(row_offsets[row])
                index = 0
            while index < start and at < stop:
                index += 1
                if data[at] < 0x80:
                    at += one
                    continue
                _, size = decode(data, np.int64(at), np.int64(stop))
                at += np.uint64(size)
            # The first character may become several letters.
            if np.int64(used) + (end - index) + MAX_LETTERS > len(letters):
                return -1
            begun = used
            while index < end and at < stop:
                lead = np.int32(data[at])
                index += 1
                if lead < 0x80:
                    letters[used] = ascii_letters[lead]
                    used += one
                    at += one
                    continue
                point, size = decode(data, np.int64(at), np.int64(stop))
                at += np.uint64(size)
                if point < PLANE:
                    for fold in range(fold_offsets[point], fold_offsets[point + 1]):
                        letter = fold_points[fold]
                        if (
                            letter == _DOT_ABOVE
                            and used > begun
                            and letters[used - one] == _SMALL_I
                        ):
                            continue
                        letters[used] = letter
                        used += one
                    if np.int64(used) + (end - index) + MAX_LETTERS > len(letters):
                        return -1
                else:
                    letters[used] = point
                    used += one
            offsets[token + 1] = np.int64(used)
    return int(used)


@numba.njit(nogil=True, cache=True)
def hash_spans(letters: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Hash spans of an array, such as the letters of words; uint64 ``[span]``, never 0.

    A hash is FNV-1a over the numbers, combined with their count and mixed.

    Args:
        letters: Code points, or other numbers, int32.
        starts: First number of each span.
        ends: End of each span, exclusive.
    """
    states = np.empty(len(starts), dtype=np.uint64)
    for span in range(len(starts)):
        state = np.uint64(0xCBF29CE484222325)
        for at in range(starts[span], ends[span]):
            state = (state ^ np.uint64(letters[at])) * np.uint64(0x100000001B3)
        states[span] = state ^ (np.uint64(ends[span] - starts[span]) << np.uint64(48))
    return mix_all(states) | np.uint64(1)


@uncounted
def find(keys: np.ndarray, ids: np.ndarray, key: np.uint64) -> int:
    """Return the id of a key in an open-addressing table, or -1."""
    mask = np.uint64(len(keys) - 1)
    slot = (key >> np.uint64(1)) & mask
    while keys[slot] != 0:
        if keys[slot] == key:
            return ids[slot]
        slot = (slot + np.uint64(1)) & mask
    return -1


@uncounted
def fill_table(keys: np.ndarray, ids: np.ndarray, words: np.ndarray) -> int:
    """Put word hashes into an empty table; id is the position in ``words``.

    Args:
        keys: Zeros, uint64; their number is a power of two above the number of words.
        ids: int32, as long as ``keys``.
        words: Hashes, uint64 ``[word]``.

    Returns:
        -1, or the position of the first repeated hash.
    """
    mask = np.uint64(len(keys) - 1)
    for word in range(len(words)):
        slot = (words[word] >> np.uint64(1)) & mask
        while keys[slot] != 0:
            if keys[slot] == words[word]:
                return word
            slot = (slot + np.uint64(1)) & mask
        keys[slot] = words[word]
        ids[slot] = word
    return -1


@numba.njit(nogil=True, cache=True)
def hash_tokens(offsets: np.ndarray, letters: np.ndarray, max_letters: int) -> np.ndarray:
    """Hash each token, or only its first letters; uint64 ``[token]``."""
    starts = offsets[:-1]
    return hash_spans(letters, starts, np.minimum(offsets[1:], starts + max_letters))


@numba.njit(nogil=True, cache=True)
def numbers_of(hashes: np.ndarray, keys: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the id of each hash, int32; -1 for unknown ones."""
    numbers = np.empty(len(hashes), dtype=np.int32)
    for at in range(len(hashes)):
        numbers[at] = find(keys, ids, hashes[at])
    return numbers


@numba.njit(nogil=True, cache=True)
def look_up(
    offsets: np.ndarray,
    letters: np.ndarray,
    word_keys: np.ndarray,
    word_ids: np.ndarray,
    stem_keys: np.ndarray,
    stem_ids: np.ndarray,
) -> np.ndarray:
    """Number the tokens.

    Args:
        offsets: Start of each token's letters ``[token + 1]``.
        letters: Folded code points.
        word_keys: Table of the known words.
        word_ids: Table of the known words.
        stem_keys: Table of the known stems.
        stem_ids: Table of the known stems.

    Returns:
        int32 ``[token]``: the word; or ``-2 - stem`` for an unseen word with a known stem; or -1.
    """
    numbers = numbers_of(hash_spans(letters, offsets[:-1], offsets[1:]), word_keys, word_ids)
    unseen = np.flatnonzero(numbers < 0)
    if len(unseen) == 0:
        return numbers
    starts = offsets[unseen]
    ends = np.minimum(offsets[unseen + 1], starts + STEM_LETTERS)
    stems = numbers_of(hash_spans(letters, starts, ends), stem_keys, stem_ids)
    for place in range(len(unseen)):
        if stems[place] >= 0:
            numbers[unseen[place]] = -2 - stems[place]
    return numbers


@numba.njit(nogil=True, cache=True)
def count_distinct(hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count how often each hash occurs.

    Returns:
        The distinct hashes in order of first appearance, their counts (int64) and the position of
        the first appearance (int64).
    """
    size = 1024
    keys = np.zeros(size, dtype=np.uint64)
    ids = np.empty(size, dtype=np.int32)
    words = np.empty(512, dtype=np.uint64)
    counts = np.empty(512, dtype=np.int64)
    firsts = np.empty(512, dtype=np.int64)
    used = 0
    for token in range(len(hashes)):
        key = hashes[token]
        mask = np.uint64(size - 1)
        slot = (key >> np.uint64(1)) & mask
        while keys[slot] != 0 and keys[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        if keys[slot] == key:
            counts[ids[slot]] += 1
            continue
        if used == len(words):
            words = np.concatenate((words, np.empty(used, dtype=np.uint64)))
            counts = np.concatenate((counts, np.empty(used, dtype=np.int64)))
            firsts = np.concatenate((firsts, np.empty(used, dtype=np.int64)))
            size *= 2
            keys = np.zeros(size, dtype=np.uint64)
            ids = np.empty(size, dtype=np.int32)
            fill_table(keys, ids, words[:used])
            mask = np.uint64(size - 1)
            slot = (key >> np.uint64(1)) & mask
            while keys[slot] != 0:
                slot = (slot + np.uint64(1)) & mask
        keys[slot] = key
        ids[slot] = used
        words[used] = key
        counts[used] = 1
        firsts[used] = token
        used += 1
    return words[:used].copy(), counts[:used].copy(), firsts[:used].copy()
