"""Numbers only: NumPy and Numba on flat arrays and offsets."""

from pairweave.transforms.kernels.compilation_lock import compile_once
from pairweave.transforms.kernels.kernel_cache import announce_compilation, outlive_upgrades

outlive_upgrades()
compile_once()
announce_compilation()
