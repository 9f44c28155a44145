"""The engine `dataflow`: checks before a job is sent, and the client of the service."""
