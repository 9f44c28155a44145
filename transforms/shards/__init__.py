"""The unit of work after the shuffle: its type, and how rows enter and leave it."""
