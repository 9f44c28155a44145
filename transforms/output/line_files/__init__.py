"""Files with a line for each line of input: links, scores, beads."""
