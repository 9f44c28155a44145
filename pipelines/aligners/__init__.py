"""From options to the aligner that a job uses."""
