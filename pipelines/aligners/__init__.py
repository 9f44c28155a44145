"""The aligners of jobs, one module each, and their registry."""
