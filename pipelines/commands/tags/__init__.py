"""The subcommands of ``tags``, which encode, decode, learn, compare and place tags."""
