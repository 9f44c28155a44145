"""Numbers only: NumPy and Numba on flat arrays and offsets."""
