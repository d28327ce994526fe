"""A small real repository and a scripted model, to see the whole program work without a key."""
