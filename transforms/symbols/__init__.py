"""What tags look like to a translation model, and the way back to real tags."""
