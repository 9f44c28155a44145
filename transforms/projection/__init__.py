"""Projection: the tags of a source put onto its translation."""
