"""Scenarios from and for other tools, one file per format."""
