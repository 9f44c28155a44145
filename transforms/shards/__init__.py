"""The unit of work after the shuffle: its type, and how rows enter, leave and are spilled."""
