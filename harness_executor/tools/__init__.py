"""What a subagent can do to its tree."""
