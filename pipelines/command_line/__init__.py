"""From the command line and YAML files to options: flags, help, checks."""
