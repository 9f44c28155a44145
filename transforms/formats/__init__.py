"""File formats, a file each: how it is found, scanned, read and written; listed in registry.py."""
