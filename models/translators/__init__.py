"""Translators of sentences and fragments, and the translation of shards."""
