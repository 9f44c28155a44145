"""Plugins of other packages: found by name through entry points, checked, loaded, hashed."""
