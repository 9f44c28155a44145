"""Inspection of a corpus before any work (the look): faults in its rows, their places and remedies."""
