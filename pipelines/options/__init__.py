"""Options: how the command line and YAML become the settings of a job."""
