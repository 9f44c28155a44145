"""The symbols of WeTS: for the text that a suggestion replaces, and for an empty suggestion."""

MASK = "<MASK_REP>"
"""Replaces the masked span in a text (WeTS)."""

NOTHING = "<NULL_REP>"
"""Represents an empty suggestion (WeTS)."""
