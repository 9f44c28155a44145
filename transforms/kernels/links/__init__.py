"""Kernels on word links and phrase pairs."""
