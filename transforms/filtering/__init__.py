"""Filtering pairs: rules and their measurements, the default score, selection, mixtures."""
