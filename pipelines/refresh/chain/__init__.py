"""The hashes by which a table's records, state files and Delta logs vouch for each other."""
