"""The symbol for the text that a suggestion replaces."""

MASK = "<MASK_REP>"
"""Replaces the masked span in a text (WeTS)."""
