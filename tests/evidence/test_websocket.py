"""A short talk over a WebSocket, with a real server."""

import http
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from harness_executor.clock import SystemClock
from harness_executor.evidence.exchange import Client
from harness_executor.evidence.mutation import strength_of
from harness_executor.kernel.acts import Call, Listening
from harness_executor.kernel.expect import check
from harness_executor.kernel.expectation import Expect, JsonCheck
from harness_executor.kernel.report import Exchange, ScenarioRun, StepRun
from tests.evidence.apps import http_server, nobody, raw_server


@contextmanager
def websocket_server(talk: Callable[[ServerConnection], None], **options: Any) -> Iterator[str]:
    """A real WebSocket server in a thread."""
    with serve(talk, "127.0.0.1", 0, **options) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            server.shutdown()
            thread.join()


def echo(connection: ServerConnection) -> None:
    """Say everything back."""
    for message in connection:
        connection.send(message)


def listen(url: str, headers: dict[str, str] | None = None, /, **listening: Any) -> Exchange:
    """One talk by a client of its own."""
    with Client(url, SystemClock()) as client:
        return client.send(
            Call("/ws?a=b c", headers=headers or {}, listen=Listening(websocket=True, **listening))
        )


def heard(exchange: Exchange) -> list[Any]:
    """The frames of an answer."""
    assert exchange.answer is not None, exchange.error
    assert exchange.answer.status == 101
    found: list[Any] = exchange.answer.json()
    return found


def test_frames_that_are_sent_come_back() -> None:
    """Text that is JSON is JSON, other text is text, and bytes are base64."""
    with websocket_server(echo) as url:
        sent = ({"a": [1, "ä"]}, "hello", "base64:iVBOR/8=", 7)
        assert heard(listen(url, frames=4, send=sent)) == list(sent)


def test_pings_are_answered_and_parts_are_joined() -> None:
    """A server that pings first and speaks in fragments is understood."""

    def talk(connection: ServerConnection) -> None:
        assert connection.ping().wait(5)
        connection.send(iter(["one", " and ", "two"]))
        connection.recv()

    with websocket_server(talk) as url:
        assert heard(listen(url)) == ["one and two"]


def test_a_close_is_a_frame() -> None:
    """The code and the reason of a server that hangs up are part of what was said."""
    with websocket_server(lambda connection: connection.close(1008, "not you")) as url:
        assert heard(listen(url, frames=3)) == [{"close": 1008, "reason": "not you"}]


def test_nothing_need_be_waited_for() -> None:
    """With no frames the handshake is the answer."""
    with websocket_server(echo) as url:
        assert heard(listen(url, frames=0)) == []


def test_a_silent_server_is_given_up() -> None:
    """Fewer frames than asked for are no answer."""
    with websocket_server(echo) as url:
        exchange = listen(url, frames=2, send=("one",), seconds=3.0)
    assert exchange.answer is None
    assert exchange.error == "no answer: Unheard 1 of 2 frames came within 3 s"


def test_a_refused_upgrade_is_an_answer() -> None:
    """A scenario can expect that nobody is let in without a token."""

    def guard(connection: ServerConnection, request: Request) -> Response | None:
        if request.headers.get("authorization") == "Bearer t":
            return None
        return connection.respond(http.HTTPStatus.FORBIDDEN, "no token\n")

    with websocket_server(echo, process_request=guard) as url:
        answer = listen(url).answer
        assert answer is not None
        assert (answer.status, answer.body) == (403, "no token\n")
        assert heard(listen(url, {"Authorization": "Bearer t"}, send=("x",))) == ["x"]


def test_a_server_that_knows_no_websocket_answers_as_it_does() -> None:
    """Base has no such route yet: its 404 is the answer."""
    with http_server(lambda *_: (404, {}, b'{"error": "no"}')) as seen:
        answer = listen(seen.url).answer
    assert answer is not None
    assert (answer.status, answer.json()) == (404, {"error": "no"})


def test_cookies_go_along_and_are_kept() -> None:
    """The handshake sends the cookies of the user, and may set more."""

    def asked(connection: ServerConnection) -> None:
        assert connection.request is not None
        connection.send(json.dumps(connection.request.headers.get("cookie")))

    def marked(connection: ServerConnection, request: Request, response: Response) -> None:
        response.headers["Set-Cookie"] = "seen=1; Path=/"

    with websocket_server(asked, process_response=marked) as url, Client(url, SystemClock()) as client:
        call = Call("/", listen=Listening(websocket=True))
        assert [heard(client.send(call)) for _ in range(2)] == [[None], ["seen=1"]]


def test_a_subprotocol_can_be_asked_for() -> None:
    """The protocols of the header are offered, and the one that was chosen is in the answer."""
    with websocket_server(echo, subprotocols=["b"]) as url:
        exchange = listen(url, {"Sec-WebSocket-Protocol": "a, b"}, send=("x",))
    assert heard(exchange) == ["x"]
    assert exchange.answer is not None
    assert exchange.answer.header("sec-websocket-protocol") == "b"


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf",
    ],
    ids=["nothing", "garbage", "no proof", "cut off"],
)
def test_half_a_handshake_is_no_answer(said: bytes) -> None:
    """What does not end as it should is not believed."""
    with raw_server(lambda connection: connection.sendall(said)) as url:
        exchange = listen(url, seconds=5)
    assert exchange.answer is None
    assert exchange.error.startswith("no answer: ")


def test_a_frame_that_is_none_is_no_answer() -> None:
    """Bytes that are no frame, after a good handshake, are told."""

    def spoil(connection: ServerConnection) -> None:
        connection.socket.sendall(b"\xff\xff\xff\xff")
        connection.socket.shutdown(socket.SHUT_WR)

    with websocket_server(spoil) as url:
        assert "no WebSocket frame" in listen(url, seconds=5).error


def test_a_missing_server_is_no_answer() -> None:
    """A refused connection is recorded with its reason."""
    assert listen(nobody()).error.startswith("no answer: ConnectionRefusedError")


def test_a_header_cannot_smuggle_another() -> None:
    """A captured value of two lines sends nothing."""
    with websocket_server(echo) as url:
        assert "more than one line" in listen(url, {"X": "a\r\nY: b"}).error


def test_frames_are_broken_like_any_json() -> None:
    """A scenario that looks at no frame would not notice a broken one, and is told so."""
    with websocket_server(echo) as url:
        exchange = listen(url, send=({"n": 1},))
    assert exchange.answer is not None
    weak, strong = Expect(101), Expect(101, json=(JsonCheck("$[0].n", value=1),))
    for expect, survived in ((weak, True), (strong, False)):
        step = StepRun("", exchange, expect, check(expect, exchange.answer))
        strength = strength_of(ScenarioRun("s", (step,), complete=True))
        assert strength.mutants > 3
        assert bool(strength.survived) is survived
