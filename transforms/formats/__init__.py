"""File formats, one module each: recognition, scan, reading and writing; listed in registry.py."""
