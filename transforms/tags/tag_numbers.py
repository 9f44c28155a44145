"""The numbers of a row's tags in the order of the source, as documents' tags are encoded."""

import numpy as np

from pairweave.transforms.indexed_tag import INDICES
from pairweave.transforms.kernels.tags import tag_text
from pairweave.transforms.kernels.tags.tag_text import TagBorders

_AT_END = np.zeros(tag_text.CODES, np.bool_)
_AT_END[[tag_text.SELF_AT_END, tag_text.CLOSE, tag_text.EMPTY_AT_END]] = True


def in_order(borders: TagBorders) -> np.ndarray:
    """Number the tags of each row from 0, in the order in which the text first has each.

    Args:
        borders: Where the tags of one side are written.

    Returns:
        The new number of each old one, int16 ``[row, INDICES]``; -1 for those that the row lacks.
    """
    offsets, opens, closes, numbers, codes = borders
    rows = len(offsets) - 1
    row = np.repeat(np.arange(rows), np.diff(offsets))
    given = np.arange(len(row))
    late = _AT_END[codes]
    # As `tag_text.insert_tags` writes them: at one place, closing tags before opening ones, and
    # ranges nested.
    order = np.lexsort(
        (
            np.where(late, -given, given),
            np.where(late, -opens, -closes),
            ~late,
            np.where(late, closes, opens),
            row,
        )
    )
    keys = row[order] * INDICES + numbers[order]
    distinct, first = np.unique(keys, return_index=True)
    turn = np.argsort(first, kind="stable")
    rows_of_tags = distinct[turn] // INDICES
    counts = np.bincount(rows_of_tags, minlength=rows)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    renumbered = np.full((rows, INDICES), -1, np.int16)
    renumbered[rows_of_tags, distinct[turn] % INDICES] = np.arange(len(turn)) - starts
    return renumbered
