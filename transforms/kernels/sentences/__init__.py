"""Sentence alignment on flat arrays: scores of beads, and the best path through a band."""
