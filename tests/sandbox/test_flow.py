"""Bytes between two sockets, both ways at once, within limits."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from harness_executor.clock import SystemClock
from harness_executor.sandbox.flow import Cut, Flow, Span, carry
from tests.sandbox.outside import read_all

MUCH = 8 * 2**20


class Between:
    """A client, a server, and what carries bytes between them, in a thread."""

    def __init__(self) -> None:
        self.client, self._near = socket.socketpair()
        self.server, self._far = socket.socketpair()
        self.client.settimeout(20)
        self.server.settimeout(20)
        self.cut = ""

    def start(self, *, up: int = 2**40, down: int = 2**40, idle: float = 20, total: float = 60) -> None:
        """Begin to carry."""
        clock = SystemClock()
        span = Span(clock, clock.monotonic() + total, idle)
        flows = (Flow(self._near, self._far, up), Flow(self._far, self._near, down))
        self._thread = threading.Thread(target=self._carry, args=(*flows, span), daemon=True)
        self._thread.start()

    def _carry(self, up: Flow, down: Flow, span: Span) -> None:
        with self._near, self._far:
            try:
                carry(up, down, span)
            except Cut as cut:
                self.cut = str(cut)

    def ends(self) -> bool:
        """Does it end by itself?"""
        self._thread.join(10)
        return not self._thread.is_alive()

    def close(self) -> None:
        """End everything."""
        self.client.close()
        self.server.close()
        self._thread.join(10)


@pytest.fixture
def between() -> Iterator[Between]:
    """Two ends that are not yet connected."""
    made = Between()
    yield made
    made.close()


def _send(connection: socket.socket, data: bytes) -> None:
    with suppress(OSError):
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)


def test_much_goes_both_ways_at_once(between: Between) -> None:
    """Neither side waits for the other to read first, and nothing is lost."""
    between.start()
    sent = (b"up" * (MUCH // 2), b"down" * (MUCH // 4))
    threads = [
        threading.Thread(target=_send, args=pair, daemon=True)
        for pair in zip((between.client, between.server), sent, strict=True)
    ]
    heard: list[bytes] = []
    reading = threading.Thread(target=lambda: heard.append(read_all(between.client)), daemon=True)
    for thread in (*threads, reading):
        thread.start()
    assert read_all(between.server) == sent[0]
    reading.join(20)
    assert heard == [sent[1]]
    assert between.ends()
    assert not between.cut


def test_a_side_that_has_said_everything_still_hears(between: Between) -> None:
    """The end of what the client says is passed on, and the answer comes back after it."""
    between.start()
    _send(between.client, b"question")
    assert read_all(between.server) == b"question"
    _send(between.server, b"answer")
    assert read_all(between.client) == b"answer"
    assert between.ends()


def test_a_host_that_has_said_everything_still_hears(between: Between) -> None:
    """What a client says after the host's last word arrives; when it says nothing more, it ends."""
    between.start()
    _send(between.server, b"answer")
    assert read_all(between.client) == b"answer"
    between.client.sendall(b"more")
    assert read_all(between.server) == b"more"
    assert between.ends()
    assert not between.cut


def test_a_client_that_is_gone_ends_it(between: Between) -> None:
    """When nobody is there to hear, a server that says nothing is not waited for."""
    between.start()
    between.client.close()
    assert between.ends()
    assert not between.cut


@pytest.mark.parametrize("side", ["client", "server"])
def test_more_bytes_than_allowed_are_cut_off(between: Between, side: str) -> None:
    """Each way has its cap, and what is beyond it does not arrive."""
    between.start(up=1000, down=1000)
    sender, hearer = between.client, between.server
    if side == "server":
        sender, hearer = hearer, sender
    threading.Thread(target=_send, args=(sender, b"x" * 5000), daemon=True).start()
    assert read_all(hearer) == b"x" * 1000
    assert between.ends()
    assert between.cut == "more bytes than one connection may carry"


def test_silence_is_cut_off(between: Between) -> None:
    """When nothing moves for too long it ends; what moves before that keeps it."""
    begun = time.monotonic()
    between.start(idle=2.0)
    for _ in range(4):
        time.sleep(0.6)
        between.client.sendall(b"x")
    assert between.ends()
    assert time.monotonic() - begun >= 4.0
    assert between.cut == "nothing moved for too long"


def test_a_connection_ends_even_if_it_is_busy(between: Between) -> None:
    """The whole time is limited, however much moves."""
    between.start(total=0.5)
    end = time.monotonic() + 10
    with suppress(OSError):
        while time.monotonic() < end:
            between.client.sendall(b"x")
            between.server.recv(10)
    assert between.ends()
    assert between.cut == "it took too long"


def test_a_socket_that_somebody_makes_wait_does_not_hold_us(between: Between) -> None:
    """Who has the same socket can make it one that waits; the limits hold all the same."""
    between.start(idle=1)
    time.sleep(0.1)
    with between._near.dup() as shared:
        shared.setblocking(True)
        shared.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        threading.Thread(target=_send, args=(between.server, b"x" * MUCH), daemon=True).start()
        assert between.ends()
    assert between.cut == "nothing moved for too long"
