"""Steps that a planned run sets up: reading and screening, fragments, scored phrases."""
