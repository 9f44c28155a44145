"""A run: prepared, planned, executed, tried again, watched."""
