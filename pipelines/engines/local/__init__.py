"""The engine `local`: Beam's in-memory runner with forked workers."""
