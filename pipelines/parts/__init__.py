"""The parts of jobs: each owns what is known about one model, rule or file that options name."""
