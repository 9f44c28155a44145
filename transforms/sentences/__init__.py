"""Documents of sentences, beads of sentences that translate each other, and lines that do not."""
