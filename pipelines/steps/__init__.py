"""The Beam transforms of each step, which know no run and no part, only settings."""
