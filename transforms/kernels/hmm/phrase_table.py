"""Phrases as runs of word numbers: hashed, looked up, and merged with other translations."""

import numba
import numpy as np

from pairweave.transforms.kernels.text.words import find, hash_spans


@numba.njit(nogil=True, cache=True)
def hash_runs(numbers: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Hash runs of words.

    Args:
        numbers: Numbers of words, negative for unknown words, int32 ``[word]``.
        starts: First word of each run, int64 ``[run]``.
        ends: End of each run, exclusive, int64 ``[run]``.

    Returns:
        uint64 ``[run]``; 0 for a run with an unknown word.
    """
    hashes = hash_spans(numbers, starts, ends)
    for run in range(len(starts)):
        for word in range(starts[run], ends[run]):
            if numbers[word] < 0:
                hashes[run] = 0
    return hashes


@numba.njit(nogil=True, cache=True)
def find_runs(
    offsets: np.ndarray,
    numbers: np.ndarray,
    keys: np.ndarray,
    ids: np.ndarray,
    known_offsets: np.ndarray,
    known_words: np.ndarray,
) -> np.ndarray:
    """Look up runs of words among known ones.

    Args:
        offsets: Start of each run, int64 ``[run + 1]``.
        numbers: Numbers of words, int32 ``[word]``.
        keys: Table of the hashes of known runs (`transforms.kernels.text.words.fill_table`).
        ids: Numbers in the same table.
        known_offsets: Start of each known run, int64 ``[known + 1]``.
        known_words: Its words' numbers, int32.

    Returns:
        Number of each run among the known ones, int64 ``[run]``; -1 for an unknown run.
    """
    result = np.full(len(offsets) - 1, -1, np.int64)
    hashes = hash_runs(numbers, offsets[:-1], offsets[1:])
    for run in range(len(result)):
        if hashes[run] == 0:
            continue
        known = np.int64(find(keys, ids, hashes[run]))
        length = offsets[run + 1] - offsets[run]
        if known < 0 or known_offsets[known + 1] - known_offsets[known] != length:
            continue
        same = True
        for word in range(length):
            same &= known_words[known_offsets[known] + word] == numbers[offsets[run] + word]
        if same:
            result[run] = known
    return result


@numba.njit(nogil=True, cache=True)
def put_before(
    rows: np.ndarray,
    row_offsets: np.ndarray,
    phrase_offsets: np.ndarray,
    phrase_words: np.ndarray,
    offsets: np.ndarray,
    word_offsets: np.ndarray,
    words: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Prepend the phrases of a table to other translations of fragments.

    Args:
        rows: Row of the table of each fragment, or -1, int64 ``[fragment]``.
        row_offsets: Start of each row's phrases, int64 ``[row + 1]``.
        phrase_offsets: Start of each phrase's words, int64 ``[phrase + 1]``.
        phrase_words: Hashes, uint64.
        offsets: Start of each fragment's other translations, int64 ``[fragment + 1]``.
        word_offsets: Start of each one's words, int64 ``[translation + 1]``.
        words: Hashes, uint64.

    Returns:
        All translations, as ``offsets``, ``word_offsets`` and ``words`` hold them.
    """
    translations, length = len(word_offsets) - 1, len(words)
    for row in rows:
        if row >= 0:
            first, last = row_offsets[row], row_offsets[row + 1]
            translations += last - first
            length += phrase_offsets[last] - phrase_offsets[first]
    begins = np.zeros(len(offsets), np.int64)
    word_begins = np.zeros(translations + 1, np.int64)
    all_words = np.empty(length, np.uint64)
    count = 0
    used = 0
    for fragment in range(len(rows)):
        row = rows[fragment]
        if row >= 0:
            for phrase in range(row_offsets[row], row_offsets[row + 1]):
                for at in range(phrase_offsets[phrase], phrase_offsets[phrase + 1]):
                    all_words[used] = phrase_words[at]
                    used += 1
                count += 1
                word_begins[count] = used
        for translation in range(offsets[fragment], offsets[fragment + 1]):
            for at in range(word_offsets[translation], word_offsets[translation + 1]):
                all_words[used] = words[at]
                used += 1
            count += 1
            word_begins[count] = used
        begins[fragment + 1] = count
    return begins, word_begins, all_words
