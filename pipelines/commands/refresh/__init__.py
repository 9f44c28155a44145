"""The command ``refresh`` and its subcommands."""
