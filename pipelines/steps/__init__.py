"""The Beam transforms of each step."""
