"""Ablations: one small translation model is trained on each variant of the data."""
