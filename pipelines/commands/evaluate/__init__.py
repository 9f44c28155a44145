"""The subcommands of ``evaluate``: links, aligners, sentences, suggestions, tags, judgements."""
