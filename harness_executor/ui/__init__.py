"""How it speaks to a person."""
