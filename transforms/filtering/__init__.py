"""Filtering pairs: rules and what they measure, the default score, duplicates, selection."""
