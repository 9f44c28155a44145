"""Options: the command line and YAML files become the settings of a job."""
