"""The commands `tags encode`, `decode`, `project`, `profile` and `vocabulary`."""
