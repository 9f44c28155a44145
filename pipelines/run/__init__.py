"""A run: prepared, planned, executed, watched."""
