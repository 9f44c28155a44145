"""Measurements of the rules of the job ``filter``: characters, words, marks, their overlap."""
