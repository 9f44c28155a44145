"""The engine `dataflow`: what is checked before a job is sent, and the client of the service."""
