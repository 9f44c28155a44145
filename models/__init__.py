"""Learned parameters: word aligners, encoders, translators, and the languages of each."""
