"""Sentence alignment of documents, by lengths, the lexicon of an aligner, and vectors."""
