"""The plan of a run: its input files, their formats, how they are read, and their units."""
