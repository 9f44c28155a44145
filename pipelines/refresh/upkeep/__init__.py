"""Maintaining the tables of a refresh: checking, deleting, joining and exporting their files."""
