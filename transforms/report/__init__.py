"""The report of a run, and the presentation of rows to people."""
