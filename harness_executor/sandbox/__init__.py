"""Every process the program starts, and the box it runs in."""
