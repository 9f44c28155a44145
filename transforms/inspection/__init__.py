"""The look at a corpus before any work: what is wrong with its rows, where, and how to fix it."""
