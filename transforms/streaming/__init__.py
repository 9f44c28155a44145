"""A finished run as an endless source of rows: new tags and a new order in every epoch."""
