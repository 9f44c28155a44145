"""The content of a run's JSON files: its plan, receipts, manifest and note on the run."""
