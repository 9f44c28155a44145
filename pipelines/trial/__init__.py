"""The command ``try``: a few pairs through the real steps of a job, and what each step made."""
