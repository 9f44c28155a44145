"""Documents of sentences: their paragraphs, and beads of sentences that translate each other."""
