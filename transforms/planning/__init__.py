"""The plan of a run: its input files, their formats, and their division into units."""
