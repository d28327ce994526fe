"""The way to one address: out of a box to what the user gave, or from this machine into a box."""

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial

from harness_executor.clock import SystemClock
from harness_executor.sandbox.flow import Cut, Flow, Span, carry
from harness_executor.sandbox.porter import Porter, attended

_CONNECT = 10.0
_SECONDS = 3600.0
_BYTES = 8 * 2**30
_MOST = 256
"""Connections at the same time."""


def serving(listener: socket.socket, to: tuple[str, int]) -> AbstractContextManager[None]:
    """Lead whoever connects to one address while the block runs; afterwards every connection is cut."""
    return forwarding(listener, partial(socket.create_connection, to, _CONNECT))


def forwarding(listener: socket.socket, dial: Callable[[], socket.socket]) -> AbstractContextManager[None]:
    """Lead whoever connects to what is dialed while the block runs; afterwards every connection is cut."""
    return attended(listener, Porter(partial(_carry, dial), _MOST))


def _carry(dial: Callable[[], socket.socket], client: socket.socket) -> None:
    """Bytes of one connection, there and back, and nowhere else."""
    clock = SystemClock()
    with suppress(OSError, Cut), dial() as server:
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        span = Span(clock, clock.monotonic() + _SECONDS, _SECONDS)
        carry(Flow(client, server, _BYTES), Flow(server, client, _BYTES), span)
