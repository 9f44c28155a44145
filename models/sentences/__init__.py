"""Sentence alignment of documents, by lengths and by the lexicon of a fitted aligner."""
