"""Numbers only: NumPy and Numba on flat arrays and offsets."""

from pairweave.transforms.kernels.compilation_lock import compile_once
from pairweave.transforms.kernels.kernel_cache import announce_compilation, cache_kernels

compile_once()
cache_kernels()
announce_compilation()
