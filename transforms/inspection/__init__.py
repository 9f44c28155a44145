"""The look at a corpus before any work: faults in its rows, their places and remedies."""
