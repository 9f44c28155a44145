"""Finding a model's weights and refusing those that are unsafe to read."""
