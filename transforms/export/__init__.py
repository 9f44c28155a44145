"""Exports finished runs to other files: the choice of rows, their tags and links."""
