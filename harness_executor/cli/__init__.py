"""How it is called from a shell."""
