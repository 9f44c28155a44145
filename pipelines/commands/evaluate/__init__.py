"""The subcommands `evaluate links`, `aligners`, `sentences`, `suggestions`, `tags`, `judgements`."""
