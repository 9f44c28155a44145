"""Runs: preparation, planning, execution, retries, notes and summaries."""
