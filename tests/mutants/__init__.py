"""Mutation testing of the pure parts with cosmic-ray; `tests/README.md` says how to run it."""
