"""A run in its directory, from start to end: claim, state, manifest, dataset card, commit."""
