"""The harness as a client: what it sends, and what it makes of any answer."""

import gzip
import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness_executor.clock import SystemClock
from harness_executor.evidence.exchange import MAX_BODY, Client
from harness_executor.kernel.acts import Call, Listening, Upload
from harness_executor.kernel.report import Exchange
from tests.evidence.apps import Reply, Seen, http_server, nobody, raw_server


def send(url: str, call: Call | None = None, *, seconds: float = 10.0) -> Exchange:
    """One request by a client of its own."""
    with Client(url, SystemClock(), seconds=seconds) as client:
        return client.send(call or Call("/"))


def fixed(status: int = 200, body: bytes = b"ok", headers: Mapping[str, str] | None = None) -> Reply:
    """The same answer to everything."""
    return status, headers or {}, body


@pytest.fixture
def server() -> Iterator[Seen]:
    """A server that says ok."""
    with http_server(lambda *_: fixed()) as seen:
        yield seen


def test_records_what_was_sent_and_what_came_back(server: Seen) -> None:
    """Method, address, headers and body of both sides are kept as they were."""
    call = Call("/a?b=c", "post", {"X-One": "1"}, body="héllo")
    exchange = send(server.url, call)
    assert (exchange.method, exchange.url, exchange.body) == ("POST", f"{server.url}/a?b=c", "héllo")
    assert exchange.headers["x-one"] == "1"
    assert exchange.error == ""
    assert exchange.answer is not None
    assert (exchange.answer.status, exchange.answer.body) == (200, "ok")
    assert exchange.answer.header("Content-Length") == "2"
    assert exchange.answer.latency_ms > 0
    method, path, headers, body = server.requests[0]
    assert (method, path, headers["x-one"], body) == ("POST", "/a?b=c", "1", "héllo".encode())


def test_every_recorded_header_was_sent(server: Seen) -> None:
    """What the record says was sent did arrive."""
    exchange = send(server.url, Call("/", headers={"Accept": "text/plain", "X-Two": "2"}))
    assert exchange.headers.items() <= server.headers().items()
    assert server.headers()["accept"] == "text/plain"


@pytest.mark.parametrize(
    "path", ["/files/../../etc/passwd", "/./a", "/a//../b?c=../d", "/%2e%2e/a b", "/a/..?b#c", "/a?b=/../c"]
)
def test_a_path_is_sent_as_it_is_written(server: Seen, path: str) -> None:
    """A scenario about leaving a folder by `..` asks just that, as curl does with `--path-as-is`."""
    exchange = send(server.url, Call(path))
    assert exchange.url == f"{server.url}{path}"
    assert server.paths() == [path.partition("#")[0].replace(" ", "%20")]


def test_a_json_body_says_that_it_is_json(server: Seen) -> None:
    """JSON is sent with its content type, also when its value is false or empty."""
    values: tuple[Any, ...] = ({"ä": [1, None]}, False, 0, "", [])
    for value in values:
        send(server.url, Call("/", "PUT", json=value))
        assert json.loads(server.requests[-1][3]) == value
        assert server.headers()["content-type"] == "application/json"


def test_a_content_type_that_is_given_is_kept(server: Seen) -> None:
    """A scenario may lie about its body."""
    send(server.url, Call("/", "POST", {"Content-Type": "text/plain"}, json={"a": 1}))
    assert server.headers()["content-type"] == "text/plain"


def test_no_body_is_sent_when_none_is_given(server: Seen) -> None:
    """A request without a body has none."""
    exchange = send(server.url)
    assert exchange.body is None
    assert server.requests[0][3] == b""


def test_the_client_looks_like_any_other(server: Seen) -> None:
    """Nothing in a request tells a server that it is being verified."""
    send(server.url)
    said = json.dumps(server.headers()).lower()
    assert server.headers()["user-agent"].startswith("Mozilla/5.0")
    assert not [word for word in ("harness", "python", "httpx", "test", "verif") if word in said]


def test_a_missing_server_is_no_answer() -> None:
    """A refused connection is recorded with its reason."""
    exchange = send(nobody())
    assert exchange.answer is None
    assert exchange.error.startswith("no answer: ConnectError")


def test_a_reset_connection_is_no_answer() -> None:
    """A server that drops the connection has not answered."""

    def reset(connection: socket.socket) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with raw_server(reset) as url:
        assert send(url).error.startswith(("no answer: ReadError", "no answer: RemoteProtocolError"))


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"not http at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nten bytes.",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope",
    ],
    ids=["nothing", "garbage", "cut off", "bad chunk", "bad gzip"],
)
def test_half_an_answer_is_no_answer(said: bytes) -> None:
    """What does not end as HTTP ends is not believed."""
    with raw_server(lambda connection: connection.sendall(said)) as url:
        exchange = send(url)
    assert exchange.answer is None
    assert exchange.error.startswith("no answer: ")


def test_a_silent_server_is_given_up() -> None:
    """A server that takes the request and says nothing costs no more than its time."""
    over = threading.Event()
    with raw_server(stream(over=over, head=b"")) as url:
        exchange = send(url, seconds=0.3)
        over.set()
    assert exchange.error.startswith("no answer: ReadTimeout")


def test_a_body_that_trickles_is_given_up() -> None:
    """A body that keeps coming, however slowly, ends with the time it has."""

    def trickle(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(800):
            connection.sendall(b".")
            time.sleep(0.05)

    with raw_server(trickle) as url:
        assert "the body did not end within 2 s" in send(url, seconds=2.0).error


def test_a_body_that_was_cut_off_is_not_taken_as_whole() -> None:
    """The end that the harness itself put to a body is not the end of an answer."""

    over = threading.Event()

    def stall(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        time.sleep(1.3)
        connection.sendall(b"half of it")
        over.wait(60)

    with raw_server(stall) as url:
        assert "the body did not end within 3 s" in send(url, seconds=3.0).error
        over.set()


@pytest.mark.parametrize("begin", [b"HTTP/1.1 200 OK\r\nX-Slow: ", b""], ids=["header", "early hints"])
def test_a_head_that_trickles_is_given_up(begin: bytes) -> None:
    """A server that never comes to its answer, but always says something, is cut off."""

    def trickle(connection: socket.socket) -> None:
        connection.sendall(begin)
        for _ in range(800):
            connection.sendall(b"a" if begin else b"HTTP/1.1 103 Early Hints\r\n\r\n")
            time.sleep(0.05)

    began = time.monotonic()
    with raw_server(trickle) as url:
        exchange = send(url, seconds=0.2)
        assert time.monotonic() - began < 20
    assert exchange.answer is None


def test_a_line_that_is_kept_open_is_cut_off_too() -> None:
    """The time of a second request on the same connection is limited as well."""

    def answer_once(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        connection.recv(65_536)
        for _ in range(800):
            connection.sendall(b"H")
            time.sleep(0.05)

    with raw_server(answer_once) as url, Client(url, SystemClock(), seconds=2.0) as client:
        assert client.send(Call("/")).answer is not None
        began = time.monotonic()
        assert client.send(Call("/")).answer is None
        assert time.monotonic() - began < 20


def test_a_body_that_is_too_large_is_given_up() -> None:
    """A body without end does not fill the memory."""

    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(200):
            connection.sendall(b"x" * 1_000_000)

    with raw_server(flood) as url:
        assert f"the body has more than {MAX_BODY} bytes" in send(url).error


def test_a_large_body_is_kept_whole() -> None:
    """A body within the limit is not cut."""
    with http_server(lambda *_: fixed(body=b"y" * 3_000_000)) as seen:
        answer = send(seen.url).answer
    assert answer is not None
    assert len(answer.body) == 3_000_000


def test_redirects_are_not_followed() -> None:
    """A redirect is an answer, and the harness goes nowhere because of it."""
    with http_server(lambda *_: fixed(302, b"", {"location": "/elsewhere"})) as seen:
        answer = send(seen.url).answer
    assert answer is not None
    assert (answer.status, answer.header("location")) == (302, "/elsewhere")
    assert seen.paths() == ["/"]


def test_cookies_are_kept_by_one_client_only() -> None:
    """A client is one user: what it was given it sends back, and nobody else does."""
    with http_server(lambda *_: fixed(200, b"", {"set-cookie": "session=abc; Path=/"})) as seen:
        with Client(seen.url, SystemClock()) as client:
            client.send(Call("/login"))
            client.send(Call("/page"))
        send(seen.url)
    assert [headers.get("cookie") for _, _, headers, _ in seen.requests] == [None, "session=abc", None]


def test_a_binary_body_is_kept_as_base64() -> None:
    """Bytes that are no text are recorded without loss."""
    with http_server(lambda *_: fixed(body=b"\x89PNG\xff")) as seen:
        answer = send(seen.url).answer
    assert answer is not None
    assert answer.body == "base64:iVBOR/8="


@pytest.mark.parametrize(
    ("charset", "body", "said"),
    [
        ("ISO-8859-1", "Grüße".encode("latin-1"), "Grüße"),
        ("iso-8859-1", "Grüße".encode(), "Grüße"),
        ("utf-16le", "hi".encode("utf-16-le"), "hi"),
        ("shift_jis", "数える".encode("shift_jis"), "数える"),
        ("unicode_escape", b"\\u0041\xff", "base64:XHUwMDQx/w=="),
        ("nonsense", b"\xff", "base64:/w=="),
    ],
)
def test_a_text_is_read_as_its_header_says(charset: str, body: bytes, said: str) -> None:
    """UTF-8 first, as many servers name a charset that they do not use; codecs that are no charset never."""
    with http_server(lambda *_: fixed(200, body, {"content-type": f"text/plain; charset={charset}"})) as seen:
        answer = send(seen.url).answer
    assert answer is not None
    assert answer.body == said


def test_a_byte_order_mark_is_no_part_of_json() -> None:
    """What some servers send before it is passed over."""
    with http_server(lambda *_: fixed(200, b'\xef\xbb\xbf{"a": 1}')) as seen:
        answer = send(seen.url).answer
    assert answer is not None
    assert answer.json() == {"a": 1}


def test_a_compressed_body_is_read() -> None:
    """What a server compresses is recorded as what it means."""
    with http_server(lambda *_: fixed(200, gzip.compress(b"plain"), {"content-encoding": "gzip"})) as seen:
        answer = send(seen.url).answer
    assert answer is not None
    assert answer.body == "plain"


def test_headers_that_come_twice_are_kept_twice() -> None:
    """No header of an answer is merged or lost."""
    said = b"HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nset-cookie: b=2\r\ncontent-length: 0\r\n\r\n"
    with raw_server(lambda connection: connection.sendall(said)) as url:
        answer = send(url).answer
    assert answer is not None
    assert [value for name, value in answer.headers if name == "set-cookie"] == ["a=1", "b=2"]


def test_proxies_and_passwords_of_the_user_are_ignored(
    server: Seen, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request goes straight to the server, without the user's proxy and without the user's password."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, nobody())
    (home / ".netrc").write_text("machine 127.0.0.1 login user password secret\n")
    monkeypatch.setenv("NETRC", str(home / ".netrc"))
    assert os.environ["HTTP_PROXY"]
    assert send(server.url).answer is not None
    assert "authorization" not in server.headers()


@pytest.mark.parametrize("path", ["@127.0.0.2/", "0/", ":1/", "", "x", "http://127.0.0.2/"])
def test_a_path_cannot_lead_to_another_server(server: Seen, path: str) -> None:
    """A captured value that makes another address of a path sends nothing anywhere."""
    exchange = send(server.url, Call(path))
    assert exchange.answer is None
    assert "does not start with /" in exchange.error
    assert server.paths() == []


@pytest.mark.parametrize(
    "call",
    [
        Call("/", headers={"X-Bad": "a\r\nX-More: b"}),
        Call("/", headers={"Bad Name": "x"}),
        Call("/", headers={"X": "日本"}),
        Call("/", "GET POST"),
        Call("/\udcff"),
        Call("/", "POST", body="\udcff"),
        Call("/a\x00b"),
    ],
    ids=["split header", "header name", "header text", "method", "path", "body", "control character"],
)
def test_a_request_that_cannot_be_sent_is_recorded(server: Seen, call: Call) -> None:
    """What HTTP does not allow is no answer, never an error of the harness."""
    exchange = send(server.url, call)
    assert exchange.answer is None
    assert exchange.error.startswith("no answer: ")
    assert server.paths() == []


def test_no_body_comes_back_for_head(server: Seen) -> None:
    """HEAD is sent as HEAD."""
    answer = send(server.url, Call("/", "HEAD")).answer
    assert answer is not None
    assert (answer.status, answer.body) == (200, "")


def test_a_form_and_a_file_arrive(server: Seen) -> None:
    """What the scenario says of a form is what the server gets and what is written down."""
    exchange = send(server.url, Call("/", "POST", form={"a": "1 ä"}))
    assert (exchange.body, server.requests[-1][3]) == ("a=1+%C3%A4", b"a=1+%C3%A4")
    exchange = send(server.url, Call("/", "POST", files={"f": Upload("a.bin", "base64:/w==")}))
    assert b"\r\n\r\n\xff\r\n" in server.requests[-1][3]
    assert server.headers()["content-type"].startswith("multipart/form-data; boundary=")
    assert exchange.body is not None
    assert exchange.body.startswith("base64:")


@pytest.mark.parametrize("method", ["PATCH", "DELETE", "PUT", "OPTIONS"])
def test_any_method_may_have_a_body(server: Seen, method: str) -> None:
    """A body goes along whatever the method is."""
    assert send(server.url, Call("/", method, json={"a": 1})).answer is not None
    assert (server.requests[-1][0], server.requests[-1][3]) == (method, b'{"a": 1}')


def test_redirects_are_followed_as_far_as_asked() -> None:
    """The answer at the end is compared, and every exchange on the way is kept."""
    to = {"/a": "/b?x", "/b?x": "c", "/c": ""}

    def reply(_: str, path: str, __: bytes) -> Reply:
        return (302, {"location": to[path], "set-cookie": f"at={path[1]}"}, b"") if to[path] else fixed()

    with http_server(reply) as seen:
        exchange = send(seen.url, Call("/a", "POST", form={"a": "b"}, follow=2))
        short = send(seen.url, Call("/a", follow=1))
    assert exchange.answer is not None
    assert (exchange.answer.body, exchange.url) == ("ok", f"{seen.url}/c")
    assert [(hop.method, hop.asked) for hop in exchange.hops] == [("POST", "POST /a"), ("GET", "GET /b?x")]
    assert [headers.get("cookie") for _, _, headers, _ in seen.requests[:3]] == [None, "at=a", "at=b"]
    assert exchange.headers["cookie"] == "at=b"
    assert short.answer is None
    assert short.error == "no answer: still redirected after 1: /a → /b?x"


def test_a_circle_of_redirects_ends() -> None:
    """A server that sends its client round and round is no answer, by name."""
    with http_server(
        lambda _, path, __: fixed(303, b"", {"location": "/b" if path == "/a" else "/a"})
    ) as seen:
        exchange = send(seen.url, Call("/a", follow=3))
    assert exchange.error == "no answer: still redirected after 3: /a → /b → /a → /b"
    assert len(seen.requests) == 4


def test_a_redirect_away_says_so() -> None:
    """Nothing but the server under test is asked, and the answer that led away is kept."""
    with http_server(lambda *_: fixed()) as other:
        with http_server(lambda *_: fixed(302, b"", {"location": f"{other.url}/x"})) as seen:
            exchange = send(seen.url, Call("/", follow=5))
        assert other.requests == []
    assert exchange.answer is None
    assert "it leads away from the server under test" in exchange.error
    assert len(exchange.hops) == 1


@pytest.mark.parametrize(
    ("cookie", "comes_back"),
    [
        ("a=1; HttpOnly; SameSite=Strict", True),
        ("a=1; Secure", True),
        ("a=1; Path=/else", False),
        ("a=1; Max-Age=0", False),
        ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", False),
        ("a=1; Domain=example.com", False),
        ("a=1; Max-Age=60; Path=/", True),
    ],
)
def test_cookies_are_kept_as_a_browser_keeps_them(cookie: str, comes_back: bool) -> None:
    """Path, age and domain of a cookie say whether it is sent again."""
    said = http_server(lambda *_: fixed(200, b"", {"set-cookie": cookie}))
    with said as seen, Client(seen.url, SystemClock()) as client:
        client.send(Call("/"))
        client.send(Call("/page"))
    assert (seen.headers().get("cookie") == "a=1") is comes_back


def test_a_cookie_can_be_taken_back() -> None:
    """A log-out that deletes the cookie ends the session."""

    def reply(_: str, path: str, __: bytes) -> Reply:
        return fixed(200, b"", {"set-cookie": "s=1" if path == "/login" else "s=; Max-Age=0"})

    with http_server(reply) as seen, Client(seen.url, SystemClock()) as client:
        for path in ("/login", "/logout", "/page"):
            client.send(Call(path))
    assert [headers.get("cookie") for _, _, headers, _ in seen.requests] == [None, "s=1", None]


def test_another_port_can_be_asked(server: Seen) -> None:
    """A server with two ports is asked at the one that is named."""
    with Client(nobody(), SystemClock()) as client:
        exchange = client.send(Call("/x"), int(server.url.rsplit(":", 1)[1]))
    assert exchange.answer is not None
    assert exchange.url == f"{server.url}/x"


EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n"


def stream(
    *pieces: bytes, over: threading.Event | None = None, head: bytes = EVENTS
) -> Callable[[socket.socket], None]:
    """A server of events that says these pieces, and then holds the line until it is told to stop."""

    def serve(connection: socket.socket) -> None:
        connection.sendall(head)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.02)
        if over:
            over.wait(60)

    return serve


def test_the_first_events_of_a_stream_are_the_answer() -> None:
    """A stream that never ends is left once enough was heard."""
    pieces = (b"event: tick\nid: 1\nda", b'ta: {"n": 1}\n', b"\ndata: two\n\n", b"data: three\n\n")
    over = threading.Event()
    with raw_server(stream(*pieces, over=over)) as url:
        answer = send(url, Call("/events", listen=Listening(2))).answer
        over.set()
    assert answer is not None
    assert answer.json() == [
        {"event": "tick", "id": "1", "data": {"n": 1}},
        {"event": "message", "id": "1", "data": "two"},
    ]


def test_a_stream_that_ends_early_is_what_came() -> None:
    """A server that closes the stream has answered."""
    with raw_server(stream(b"data: 1\n\n")) as url:
        answer = send(url, Call("/", listen=Listening(5))).answer
    assert answer is not None
    assert [event["data"] for event in answer.json()] == [1]


def test_a_stream_that_falls_silent_is_no_answer() -> None:
    """Fewer events than asked for, in the time there is, are told."""
    over = threading.Event()
    with raw_server(stream(b"data: 1\n\n", over=over)) as url:
        exchange = send(url, Call("/", listen=Listening(2, seconds=2.0)))
        over.set()
    assert exchange.answer is None
    assert exchange.error == "no answer: TooMuch 1 of 2 events came within 2 s"


def test_an_answer_that_is_no_stream_is_read_as_it_is() -> None:
    """Base has no such route yet: its 404 is the answer."""
    with http_server(lambda *_: fixed(404, b'{"error": "no"}')) as seen:
        answer = send(seen.url, Call("/events", listen=Listening(3))).answer
    assert answer is not None
    assert (answer.status, answer.json()) == (404, {"error": "no"})
