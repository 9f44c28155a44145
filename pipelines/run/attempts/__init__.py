"""One attempt of a run: its progress, ending it if it stands still, setting shards aside."""
