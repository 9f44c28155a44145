"""What the JSON files of a run contain: its plan, receipts, manifest and note on the run."""
