"""Tag injection: round which phrase pairs, with which names, in which shapes."""
