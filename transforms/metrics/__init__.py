"""Metrics of links, sentences and suggestions, and tests of their significance."""
