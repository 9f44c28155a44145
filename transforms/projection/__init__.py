"""Projection of the tags of a source onto its translation."""
