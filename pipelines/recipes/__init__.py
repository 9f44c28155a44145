"""Recipes: several jobs in one YAML file; each step is a run of its own."""
