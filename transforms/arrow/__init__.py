"""Arrow data: how tables travel between workers, and columns as flat arrays."""
