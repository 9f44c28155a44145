"""The commands that are no job on a corpus."""
