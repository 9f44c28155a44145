"""Tag injection: choosing the phrase pairs to tag, and the names and shapes of tags."""
