"""Kernels that draw masks, and translation edit rate."""
