"""The jobs: one file for each, with its whole graph."""
