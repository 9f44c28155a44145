"""Pairs that are there twice: duplicates, near-duplicates, overlap with an earlier corpus."""
