"""The start and the end of a run in its directory: claim, manifest, dataset card, commit."""
