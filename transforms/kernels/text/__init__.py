"""Kernels on UTF-8 text: code points, words, pieces, spans."""
