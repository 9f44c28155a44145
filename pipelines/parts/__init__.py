"""The parts of jobs: each is responsible for one model, rule or file that options name."""
