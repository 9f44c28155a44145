"""Recipes: several jobs in one YAML file, each a step with a run of its own."""
