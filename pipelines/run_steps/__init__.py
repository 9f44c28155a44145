"""Steps that a planned run sets up: reading and screening, fragments, terms, scored phrases."""
