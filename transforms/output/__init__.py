"""The files of a run: shards, receipts, and exports for trainers and translators."""
