"""Models, each behind the same one method."""
