"""What the records, the state files and the Delta logs of a table must say of each other."""
