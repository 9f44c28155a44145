"""Arrays that grow while their final size is unknown."""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer


@numba.njit(nogil=True, cache=True)
def enlarged(values: np.ndarray, used: Integer, size: Integer) -> np.ndarray:
    """Return a longer array that begins with the first ``used`` values; the rest is undefined.

    It copies in a loop: for an assignment to a slice, Numba also compiles the text of an error,
    which takes seconds.

    Args:
        values: One dimension.
        used: Number of values to copy.
        size: The new length.
    """
    larger = np.empty(size, values.dtype)
    for at in range(used):
        larger[at] = values[at]
    return larger
