"""The documentation: its commands, links and pages."""
