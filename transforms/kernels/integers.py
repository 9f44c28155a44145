"""The type of integers in kernels."""

from typing import TypeAlias

import numpy as np

Integer: TypeAlias = int | np.int64
"""An int64 in compiled kernels; an int where Python calls them."""
