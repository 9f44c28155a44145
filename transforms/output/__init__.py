"""The files of a run: their names, shards, receipts, signature."""
