"""Small translation models, trained from scratch to compare training data."""
