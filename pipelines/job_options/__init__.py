"""The options of each job: one frozen model a job, which `--help` reads without Beam."""
