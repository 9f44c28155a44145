"""Runs: preparation, planning, execution, retries, progress."""
