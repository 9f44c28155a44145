"""The start and the end of a run in its directory: claim, manifest, card, commit."""
