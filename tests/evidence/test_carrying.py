"""Connections that a client keeps between its requests, and servers that do not."""

import socket
import time
from collections.abc import Callable

import pytest

from harness_executor.clock import SystemClock
from harness_executor.evidence.exchange import Client
from harness_executor.kernel.acts import Call
from tests.evidence.apps import raw_server

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


def answer(said: bytes, times: int = 1) -> Callable[[socket.socket], None]:
    """A server that says the same to so many requests of a connection, and closes it without a word."""

    def serve(connection: socket.socket) -> None:
        for number in range(times):
            if number and not connection.recv(65_536):
                return
            connection.sendall(said)

    return serve


def ask(url: str, times: int, *, pause: float = 0.0) -> list[str]:
    """What went wrong with each of so many requests of one user."""
    problems = []
    with Client(url, SystemClock(), seconds=5.0) as client:
        for _ in range(times):
            problems.append(client.send(Call("/")).error)
            time.sleep(pause)
    return problems


@pytest.mark.parametrize("pause", [0.0, 0.1])
def test_a_connection_that_the_server_closed_is_not_used_again(pause: float) -> None:
    """A server may close a connection once it has answered; the next request gets one of its own."""
    with raw_server(answer(OK)) as url:
        assert ask(url, 4, pause=pause) == [""] * 4


def test_a_connection_that_the_server_keeps_is_used_again() -> None:
    """Three requests on a connection that takes two: the third one goes elsewhere."""
    with raw_server(answer(OK, times=2)) as url:
        assert ask(url, 3) == [""] * 3


def test_a_server_that_closes_instead_of_answering_has_not_answered() -> None:
    """A connection that ends when a request was sent on it is told, and nothing is sent twice."""
    requests = []

    def serve(connection: socket.socket) -> None:
        connection.sendall(OK)
        requests.append(connection.recv(65_536))

    with raw_server(serve) as url:
        assert [problem[:30] for problem in ask(url, 2)] == ["", "no answer: RemoteProtocolError"]
    assert len(requests) == 1


def test_what_is_said_after_an_answer_is_not_passed_over() -> None:
    """A body that is longer than it said spoils the answer that comes after it."""
    with raw_server(answer(OK + b"more", times=2)) as url:
        assert [problem[:30] for problem in ask(url, 2, pause=0.1)] == ["", "no answer: RemoteProtocolError"]
