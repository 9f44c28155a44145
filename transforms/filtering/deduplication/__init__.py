"""Pairs that occur twice: duplicates, near-duplicates, overlap with an earlier corpus."""
