"""What the look at a corpus measures: features of lines, and which lines belong together."""
