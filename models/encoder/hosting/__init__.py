"""How workers hold an encoder: what is sent to them, loading, `RunInference`, pairs that fail."""
