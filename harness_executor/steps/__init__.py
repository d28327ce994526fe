"""What is done: one file for each step, each a stream of facts."""
