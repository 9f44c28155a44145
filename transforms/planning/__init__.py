"""The plan of a run: which files are read, in which format, and where they are cut into units."""
