"""What kernels count with."""

from typing import TypeAlias

import numpy as np

Integer: TypeAlias = int | np.int64
"""An int64 to Numba; an int to Python that calls a kernel."""
