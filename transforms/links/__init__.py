"""Word links: symmetrized, combined, scored or given, and the phrase pairs that fit them."""
