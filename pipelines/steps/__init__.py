"""The Beam transforms of each step; those of `filter` alone are in `filtering`."""
