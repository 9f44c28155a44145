"""External aligners: programs and packages that the user has installed."""
