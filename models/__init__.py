"""Learned parameters: word aligners, encoders, translators."""
