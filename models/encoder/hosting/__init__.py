"""Hosting an encoder on workers: references, loading, `RunInference`, failing pairs."""
