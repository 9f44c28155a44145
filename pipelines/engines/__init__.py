"""Requirements of each engine on Beam and this machine."""
