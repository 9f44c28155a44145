"""The commands that are not jobs on a corpus."""
