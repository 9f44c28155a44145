"""The unit of work after the shuffle: its type, how rows become it, how rows leave it."""
