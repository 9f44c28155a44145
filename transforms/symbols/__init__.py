"""How tags look to a translation model, and the way back to real tags."""
