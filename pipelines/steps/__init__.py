"""The Beam transforms of each step; those of a single job are in `filtering` and `documents`."""
