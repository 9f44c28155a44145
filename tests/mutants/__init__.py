"""Mutation testing: faults put into the code one by one; `tests/README.md` says how to run it."""
