"""Representations of tags for a translation model, and decoding them."""
