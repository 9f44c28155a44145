"""Metrics of links, tags and suggestions, and tests of their significance."""
