"""The job ``filter`` apart from its graph: steps, the earlier corpus, the preview of its rules."""
