"""Kernels that draw, name and write tags."""
