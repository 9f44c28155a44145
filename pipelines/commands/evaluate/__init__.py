"""The commands `evaluate links`, `aligners`, `sentences`, `suggestions`, `tags` and `judgements`."""
