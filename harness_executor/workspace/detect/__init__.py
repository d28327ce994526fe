"""What a project is, from its files alone: nothing of it is run, and no model is asked."""
