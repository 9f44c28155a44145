"""Arrays as kernels get them from Arrow; those of jobs are compiled ahead for such arrays alone."""

import numpy as np


def read_only(values, kind):
    """Return an array of a type that cannot be written to."""
    array = np.array(values, kind)
    array.setflags(write=False)
    return array
