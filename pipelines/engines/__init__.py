"""What each engine needs of Beam and of this machine."""
