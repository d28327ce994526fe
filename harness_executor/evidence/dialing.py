"""Connections that somebody else makes: into a box, or to this machine."""

from collections.abc import Callable
from socket import create_connection, socket

Dial = Callable[[int], socket]
"""Gives a connection to a port at 127.0.0.1; raises OSError."""


def here(port: int) -> socket:
    """A connection on this machine."""
    return create_connection(("127.0.0.1", port), timeout=10.0)
