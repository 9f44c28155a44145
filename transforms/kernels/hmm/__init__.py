"""Kernels of the statistical aligner and of the phrases learnt with it."""
