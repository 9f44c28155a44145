"""The command ``try``: runs a few pairs through a job's real steps and shows each step's result."""
