"""Services that projects need."""
