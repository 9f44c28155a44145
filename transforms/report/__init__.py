"""The report of a run, and rows as people are shown them."""
