"""The jobs on tables in memory: what ``import pairweave`` offers."""
