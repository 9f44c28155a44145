"""Numbers only: NumPy and Numba on flat arrays and offsets."""

from pairweave.transforms.kernels.kernel_cache import announce_compilation, outlive_upgrades

outlive_upgrades()
announce_compilation()
