"""The process of the command: how it stops, its memory, its temporary directory, its requests."""
