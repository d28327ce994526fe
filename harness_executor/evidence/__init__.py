"""What is proved: servers the harness started and exchanges it made itself."""
