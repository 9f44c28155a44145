"""Emissions of one direction of a pair, as kernels take them, from plain matrices."""

import numpy as np

from pairweave.transforms.kernels.hmm.emissions import Emission


def padded(matrix, filling=0.0):
    """Return a matrix with rows and columns padded with zeros to multiples of eight.

    Args:
        matrix: Numbers, ``[row, column]``.
        filling: What the rows of the padding have instead of zeros.
    """
    rows, columns = matrix.shape
    made = np.zeros((-(-rows // 8) * 8, -(-columns // 8) * 8), np.float32)
    made[rows:] = filling
    made[:rows, :columns] = matrix
    return made


def emission_of(matrix, null, low=None):
    """Return the emissions of words with these windows; all states if ``low`` is None."""
    words, width = matrix.shape
    low = np.zeros(words, np.int32) if low is None else low
    return Emission(padded(matrix), null, low, width)
