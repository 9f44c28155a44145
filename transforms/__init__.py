"""From rows to training data: the functions on one table behind every step of a job."""
