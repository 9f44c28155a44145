"""What reading Parquet needs: the pass before the plan, its footer, its cells."""
