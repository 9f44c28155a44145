"""The lexicon of an aligner, and the search for one of its entries."""

from typing import NamedTuple

import numba
import numpy as np


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
