"""The jobs: one file for each, with its whole graph; their first steps (`screened_rows`)."""
