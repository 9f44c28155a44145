"""Where a model's weights lie, and which of them are safe to read."""
