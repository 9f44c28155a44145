"""The Beam side of each step."""
