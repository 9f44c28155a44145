"""Removing pairs that are withdrawn with their files or taken down by a list; tombstones."""
