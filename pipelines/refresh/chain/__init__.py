"""Versioned tables: their records, files and locks, and the hashes that vouch for them."""
