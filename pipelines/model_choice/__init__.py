"""Models of a job other than its aligner: finding each from the job's options."""
