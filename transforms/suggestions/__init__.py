"""Suggestion examples: masks, hints and filters."""
