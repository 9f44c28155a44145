"""The lexicon of an aligner, and how its entries are found for the words of a pair."""

from typing import NamedTuple

import numba
import numpy as np

LONG_ROW = 16
"""A row with more entries than this for each word of the other side is searched, not read."""


class Lexicon(NamedTuple):
    """Statistics of pairs of words and of pairs of stems, as matrices in compressed rows.

    Attributes:
        row_offsets: Start of each source word's entries, int64.
        columns: Target words, sorted in each row, int32 ``[entry]``.
        probabilities: p(target | source) and p(source | target), float32 ``[entry, 2]``.
        stem_offsets: Start of each source stem's entries, int64.
        stem_columns: Target stems, sorted in each row, int32 ``[stem entry]``.
        stem_counts: Expected links, float32 ``[stem entry]``.
    """

    row_offsets: np.ndarray
    columns: np.ndarray
    probabilities: np.ndarray
    stem_offsets: np.ndarray
    stem_columns: np.ndarray
    stem_counts: np.ndarray


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
def find_entry(row_offsets: np.ndarray, columns: np.ndarray, source: int, target: int) -> int:
    """Return the entry of a pair of words in the lexicon, or -1."""
    low = row_offsets[source]
    high = row_offsets[source + 1]
    while low < high:
        middle = (low + high) >> 1
        if columns[middle] < target:
            low = middle + 1
        else:
            high = middle
    if low < row_offsets[source + 1] and columns[low] == target:
        return low
    return -1


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
