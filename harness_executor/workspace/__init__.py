"""The code that is changed: git, exported trees, and the commands of a project."""
