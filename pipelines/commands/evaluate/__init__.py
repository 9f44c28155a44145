"""The commands `evaluate links`, `aligners`, `tags`, `judgements` and `suggestions`."""
