"""The attempts of a run: retrying, setting failing shards aside, ending one that stands still."""
