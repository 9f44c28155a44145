"""From rows to training data: what every step of a job does to one table, and what it needs."""
