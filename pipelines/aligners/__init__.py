"""The aligners of a job, one module each, and the registry that names them."""
