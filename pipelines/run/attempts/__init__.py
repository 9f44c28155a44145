"""The attempts of a run: repeating one, leaving shards out, ending one that stands still."""
