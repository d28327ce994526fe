"""What is remembered: the log, which is true, and views of it, which are not."""
