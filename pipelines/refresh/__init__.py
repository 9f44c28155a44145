"""The command `refresh`: the nightly run, which brings versioned tables up to date."""
