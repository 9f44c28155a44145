"""Translators of sentences and fragments."""
