"""The report of a run, and rows as they are shown to people."""
