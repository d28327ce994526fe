"""Databases and other services that a project needs while it is verified."""
