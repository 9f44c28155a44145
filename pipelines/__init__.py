"""Jobs: the graphs and their command line."""
