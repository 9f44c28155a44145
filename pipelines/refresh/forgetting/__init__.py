"""Removing pairs: withdrawn with their files, or taken down by a list; what remains of them."""
