"""Aligners of others: programs and packages that the user has installed."""
