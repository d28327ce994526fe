"""Bytes between two sockets, both ways at once, within limits."""

import select
import socket
from contextlib import suppress
from dataclasses import dataclass

from harness_executor.clock import Clock
from harness_executor.kernel.frozen import frozen

_CHUNK = 65_536
_LINGER = 2.0
"""Seconds in which a client says more after the host has said everything."""
_GONE = select.POLLHUP | select.POLLERR


class Cut(Exception):
    """A connection was ended because it reached a limit."""


@dataclass
class Flow:
    """Bytes on their way from one socket to another."""

    source: socket.socket
    sink: socket.socket
    left: int
    """Bytes that may still be read."""
    pending: bytes = b""
    is_exact: bool = False
    """Is no more wanted than what is left, and is more therefore left unread?"""
    ended: bool = False
    """Will no more come?"""
    broken: bool = False
    """Can no more be delivered?"""

    @property
    def done(self) -> bool:
        """Is everything delivered that ever will be?"""
        return self.broken or (self.ended and not self.pending)

    @property
    def wants_more(self) -> bool:
        """Should the source be read?"""
        return not (self.pending or self.ended or self.broken or (self.is_exact and not self.left))

    def pull(self) -> None:
        """Read what has come."""
        if not self.left:
            raise Cut("more bytes than one connection may carry")
        try:
            self.pending = self.source.recv(min(_CHUNK, self.left), socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            self.ended = True
            return
        self.left -= len(self.pending)
        self.ended = not self.pending
        self._pass_end_on()

    def push(self) -> None:
        """Deliver what can be delivered."""
        try:
            sent = self.sink.send(self.pending, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except BlockingIOError:
            return
        except OSError:
            self.broken = True
            return
        self.pending = self.pending[sent:]
        self._pass_end_on()

    def _pass_end_on(self) -> None:
        if self.ended and not self.pending:
            with suppress(OSError):
                self.sink.shutdown(socket.SHUT_WR)


@frozen
class Span:
    """How long bytes are carried."""

    clock: Clock
    until: float
    """The end, on the clock."""
    idle: float
    """Seconds in which something must move."""


def carry(up: Flow, down: Flow, span: Span) -> None:
    """Carry bytes until both sides have said everything, or the one who asked is gone."""
    for end in (up.source, down.source):
        end.settimeout(0)
    while not (down.broken or (down.done and (up.done or up.is_exact))):
        idle = min(span.idle, _LINGER) if down.done else span.idle
        wait = min(idle, span.until - span.clock.monotonic())
        ready = _ready(up, down, wait) if wait > 0 else {}
        if not ready and down.done:
            return
        if not ready:
            raise Cut("it took too long" if wait < idle else "nothing moved for too long")
        events = ready.get(up.source.fileno(), 0)
        if events & _GONE and not events & select.POLLIN and not down.done:
            return
        for flow in (up, down):
            _move(flow, ready)


def _ready(up: Flow, down: Flow, seconds: float) -> dict[int, int]:
    """The sockets that can be read or written; the asking one is looked at while it is told something."""
    wanted = {up.source.fileno(): 0, down.source.fileno(): 0}
    for flow in (up, down):
        wanted[flow.source.fileno()] |= select.POLLIN if flow.wants_more else 0
        wanted[flow.sink.fileno()] |= select.POLLOUT if flow.pending and not flow.broken else 0
    poll = select.poll()
    for descriptor, events in wanted.items():
        if events or (descriptor == up.source.fileno() and not down.done):
            poll.register(descriptor, events)
    return dict(poll.poll(seconds * 1000))


def _move(flow: Flow, ready: dict[int, int]) -> None:
    if flow.pending and ready.get(flow.sink.fileno()):
        flow.push()
    elif flow.wants_more and ready.get(flow.source.fileno()):
        flow.pull()
