"""Work on tables without a night: checking, deleting, joining, exporting, forgetting pairs."""
