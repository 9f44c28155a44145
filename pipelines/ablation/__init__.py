"""Ablations: one small translation model for each variant of the data, and what each is worth."""
