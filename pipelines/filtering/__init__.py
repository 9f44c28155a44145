"""The job ``filter`` beside its graph: its steps, the earlier corpus, the preview of its rules."""
