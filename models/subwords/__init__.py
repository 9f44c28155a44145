"""Subword models that keep tags whole."""
