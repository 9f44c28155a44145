"""The Beam transforms of each step; `filtering` and `documents` have those of one job alone."""
