"""Reading Parquet: the pass before the plan, the footer, the cells."""
