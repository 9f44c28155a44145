"""File formats of pairs: a reader for each that is read, a writer for each that is written."""
