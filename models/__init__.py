"""Learned parameters: statistical and neural word aligners."""
