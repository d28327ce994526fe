"""What is decided: pure functions over frozen values."""
