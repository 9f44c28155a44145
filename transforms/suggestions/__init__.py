"""Suggestion examples: masks, hints, and the rules that examples must pass."""
