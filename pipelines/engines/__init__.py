"""What each engine needs from Beam and from this machine."""
