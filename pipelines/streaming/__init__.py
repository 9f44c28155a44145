"""The command ``stream`` and `pairweave.stream`: finished runs as training data with new tags."""
