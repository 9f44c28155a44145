"""The look at a corpus before any work: it finds faults in rows, their places and remedies."""
