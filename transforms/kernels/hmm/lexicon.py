"""The lexicon of an aligner, and the search for one of its entries."""

from typing import NamedTuple

import numpy as np

from pairweave.transforms.kernels.uncounted import uncounted

NO_FREQUENT = np.empty((0, 0), dtype=np.int32)
"""The table of a lexicon that has no long rows."""

FREQUENT_ENTRIES = 100
"""The table of frequent words ends with the last row that has this many entries."""

FREQUENT_BYTES = 64 << 20
"""Maximum size of a table of frequent words, in bytes (16 MiB: a fit takes a quarter longer)."""

BYTES_OF_ENTRY = 16
"""Maximum size of such a table for each entry of the lexicon, in bytes."""


class Lexicon(NamedTuple):
    """Statistics of pairs of words and of pairs of stems, as matrices in compressed rows.

    Attributes:
        row_offsets: Start of each source word's entries, int64.
        columns: Target words, sorted in each row, int32 ``[entry]``.
        probabilities: p(target | source) and p(source | target), float32 ``[entry, 2]``.
        frequent: Entry of each frequent source word and each target word, -1 for none, int32
            ``[source word, target word]``: what would be found in their rows, which are long. May
            have no rows.
        stem_offsets: Start of each source stem's entries, int64.
        stem_columns: Target stems, sorted in each row, int32 ``[stem entry]``.
        stem_counts: Expected links, float32 ``[stem entry]``.
        frequent_stems: Stem entry of each frequent source stem and each target stem, in the same
            form.
    """

    row_offsets: np.ndarray
    columns: np.ndarray
    probabilities: np.ndarray
    frequent: np.ndarray
    stem_offsets: np.ndarray
    stem_columns: np.ndarray
    stem_counts: np.ndarray
    frequent_stems: np.ndarray


@uncounted
def search_row(columns: np.ndarray, first: int, last: int, wanted: int) -> int:
    """Return the entry of a column in the row ``first`` to ``last - 1``, or -1."""
    low, high = first, last
    while low < high:
        middle = (low + high) >> 1
        if columns[np.uint64(middle)] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < last and columns[np.uint64(low)] == wanted else -1


def tabulate_frequent(row_offsets: np.ndarray, columns: np.ndarray, targets: int) -> np.ndarray:
    """Return the entries of the most frequent source words, as in `Lexicon`.

    Args:
        row_offsets: Row offsets of a lexicon, whose words are numbered by frequency.
        columns: Its columns.
        targets: Number of target words.
    """
    room = min(FREQUENT_BYTES, BYTES_OF_ENTRY * len(columns))
    rows = min(len(row_offsets) - 1, room // (4 * max(targets, 1)))
    if row_offsets[-1] > np.iinfo(np.int32).max:
        rows = 0
    while rows > 0 and row_offsets[rows] - row_offsets[rows - 1] < FREQUENT_ENTRIES:
        rows -= 1
    # Made by NumPy, which asks for huge pages: the entries of a pair are in as many pages as words.
    table = np.full((rows, targets), -1, dtype=np.int32)
    _tabulate(row_offsets, columns, table)
    return table


@uncounted
def _tabulate(row_offsets: np.ndarray, columns: np.ndarray, table: np.ndarray) -> None:
    """Write the entries of the first rows of a lexicon, int32 ``[row, column]``."""
    for row in range(len(table)):
        for entry in range(row_offsets[row], row_offsets[row + 1]):
            table[row, columns[entry]] = entry
