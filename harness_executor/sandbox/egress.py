"""The way out of a box that has no network: a proxy that leads to listed hosts and nowhere else."""

import socket
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import field
from enum import StrEnum
from functools import partial

from harness_executor.clock import Clock, SystemClock
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.hosts import Allowed, Target, canonical, is_address, may_lead_to, read_allowed
from harness_executor.sandbox.flow import Cut, Flow, Span, carry
from harness_executor.sandbox.heads import BadHead, Head, find_end, read_head
from harness_executor.sandbox.hello import LONGEST, BadHello, Hello, read_hello
from harness_executor.sandbox.porter import Porter, attended

PORT = 3128
"""Where commands in a box find the proxy, on their own loopback."""

_CHUNK = 16_384
_NOW = socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL
"""A box that holds the same socket can make it one that waits; no call of ours does."""
_PHRASES = {
    400: "Bad Request",
    403: "Forbidden By network.allow",
    408: "Request Timeout",
    413: "Content Too Large",
    502: "Bad Gateway",
    503: "Too Many Connections",
}

Resolve = Callable[[str, int], Iterable[str]]
"""The addresses of a host."""
Dial = Callable[[str, int, float], socket.socket]
"""A connection to an address and port, within so many seconds."""


class Answer(StrEnum):
    """What became of a connection."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    FAILED = "failed"
    """It may be, but the host could not be reached."""
    CUT = "cut"
    """It was allowed, and reached a limit."""


@frozen
class Decision:
    """One line of what the proxy did."""

    host: str
    """In its one spelling; what could not be read is quoted."""
    port: int
    answer: Answer
    reason: str = ""

    def __str__(self) -> str:
        return f"egress {self.answer}: {self.host}:{self.port}" + (f": {self.reason}" if self.reason else "")


@frozen
class Limits:
    """How long a connection may take and how much it may carry."""

    head_bytes: int = 16_384
    head_seconds: float = 10
    """For the whole request, and again for the first message of TLS."""
    connect_seconds: float = 15
    idle_seconds: float = 60
    total_seconds: float = 3600
    up_bytes: int = 64 * 2**20
    down_bytes: int = 8 * 2**30
    connections: int = 64
    """At the same time."""


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as this machine finds them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def dial(address: str, port: int, seconds: float) -> socket.socket:
    """A connection to an address."""
    connection = socket.create_connection((address, port), seconds)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def keep_quiet(_: Decision) -> None:
    """Tell nobody."""


@frozen
class Way:
    """What leads out: the hosts, the limits, and how the world is reached."""

    allowed: Allowed
    tell: Callable[[Decision], None] = keep_quiet
    limits: Limits = field(default_factory=Limits)
    resolve: Resolve = resolve
    dial: Dial = dial
    clock: Clock = field(default_factory=SystemClock)

    def span(self, seconds: float) -> Span:
        """The time from now on."""
        return Span(self.clock, self.clock.monotonic() + seconds, self.limits.idle_seconds)


class _Ended(Exception):
    """The connection goes no further."""

    def __init__(
        self, status: int, reason: str, answer: Answer = Answer.REFUSED, *, detail: str = ""
    ) -> None:
        super().__init__(reason)
        self.status, self.reason, self.answer = status, reason, answer
        self.detail = detail
        """What the box does not need to know."""


def egress(way: Way) -> Porter:
    """Who answers each connection that comes out of a box, so many at a time."""

    def turn_away(client: socket.socket) -> None:
        ended = _Ended(503, "too many connections at the same time")
        way.tell(Decision("?", 0, ended.answer, ended.reason))
        _answer(client, ended)

    return Porter(partial(_serve, way=way), way.limits.connections, turn_away)


def serving(listener: socket.socket, hosts: Iterable[str]) -> AbstractContextManager[None]:
    """Answer whoever connects while the block runs; afterwards every connection is cut."""
    return attended(listener, egress(Way(read_allowed(tuple(hosts)))))


def serve_connection(client: socket.socket, way: Way) -> None:
    """Answer one connection that came out of the box, to its end, and close it."""
    with client:
        _serve(client, way)


def _serve(client: socket.socket, way: Way) -> None:
    asked = bytearray()
    target: Target | None = None
    try:
        head = _read_head(client, asked, way)
        target = head.target
        if head.is_tunnel:
            _tunnel(client, head.target, way)
        else:
            _forward(client, head, bytes(asked), way)
    except _Ended as ended:
        shown = target or Target(ascii(bytes(asked[:80]).split(b"\r\n")[0])[1:], 0)
        way.tell(Decision(shown.host, shown.port, ended.answer, ended.reason + ended.detail))
        _answer(client, ended)


def _answer(client: socket.socket, ended: _Ended) -> None:
    """Say why, if it can still be said."""
    if not ended.status:
        return
    text = f"{ended.answer}: {ended.reason}\n".encode()
    lines = (
        f"HTTP/1.1 {ended.status} {_PHRASES[ended.status]}",
        f"Content-Length: {len(text)}",
        "Content-Type: text/plain",
    )
    with suppress(OSError):
        client.settimeout(1)
        client.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode() + text, _NOW)
        client.shutdown(socket.SHUT_WR)


def _read_head(client: socket.socket, asked: bytearray, way: Way) -> Head:
    """Read a request; what came after its head is left in `asked`."""
    span = way.span(way.limits.head_seconds)
    try:
        while (end := find_end(bytes(asked))) is None:
            if len(asked) > way.limits.head_bytes:
                raise BadHead("a head that is too long")
            asked += _more(client, span)
        head = read_head(bytes(asked[:end]))
    except BadHead as error:
        raise _Ended(400, str(error)) from error
    if end > way.limits.head_bytes or len(asked) - end > (head.length or 0):
        raise _Ended(400, "more than one request")
    del asked[:end]
    return head


def _more(client: socket.socket, span: Span) -> bytes:
    """The next bytes."""
    left = span.until - span.clock.monotonic()
    try:
        client.settimeout(max(left, 0.001))
        data = client.recv(_CHUNK, _NOW)
    except TimeoutError as error:
        raise _Ended(408, "no whole request in time") from error
    except OSError as error:
        raise _Ended(0, "the connection was lost") from error
    if not data:
        raise _Ended(400, "the request ends too early")
    return data


def _tunnel(client: socket.socket, target: Target, way: Way) -> None:
    with _reach(target, way) as server:
        try:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n", _NOW)
        except OSError as error:
            raise _Ended(0, "the connection was lost") from error
        said = _read_hello(client, target, way)
        up = Flow(client, server, way.limits.up_bytes, said)
        _carry(up, Flow(server, client, way.limits.down_bytes), target, way)


def _read_hello(client: socket.socket, target: Target, way: Way) -> bytes:
    """The first message of TLS, as it came; it must ask for the host that the tunnel leads to."""
    span = way.span(way.limits.head_seconds)
    said = b""
    try:
        while (hello := read_hello(said)) is None:
            if len(said) > 2 * LONGEST:
                raise BadHello("the first message has no end")
            said += _more(client, span)
    except BadHello as error:
        raise _Ended(0, f"a tunnel carries TLS only: {error}") from error
    except _Ended as ended:
        raise _Ended(0, f"in the tunnel: {ended.reason}") from ended
    _check_hello(hello, target)
    return said


def _check_hello(hello: Hello, target: Target) -> None:
    if hello.is_veiled:
        raise _Ended(0, "TLS hides which host it asks for")
    if not hello.name and is_address(target.host):
        return
    if canonical(hello.name) != target.host:
        raise _Ended(0, f"TLS asks for {hello.name[:80]!a}")


def _forward(client: socket.socket, head: Head, body: bytes, way: Way) -> None:
    length = head.length or 0
    if length > way.limits.up_bytes:
        raise _Ended(413, "more bytes than one connection may carry")
    with _reach(head.target, way) as server:
        up = Flow(client, server, length - len(body), head.forwarded() + body, is_exact=True)
        _carry(up, Flow(server, client, way.limits.down_bytes), head.target, way)


def _carry(up: Flow, down: Flow, target: Target, way: Way) -> None:
    way.tell(Decision(target.host, target.port, Answer.ALLOWED))
    try:
        carry(up, down, way.span(way.limits.total_seconds))
    except Cut as cut:
        raise _Ended(0, str(cut), Answer.CUT) from cut


def _reach(target: Target, way: Way) -> socket.socket:
    """A connection to a listed host, at an address that was looked at; a name is looked up once, here."""
    if not way.allowed.is_allowed(target.host, target.port):
        raise _Ended(403, "not in network.allow")
    span = way.span(way.limits.connect_seconds)
    fault: OSError | None = None
    for address in _addresses(target, way):
        left = span.until - way.clock.monotonic()
        if left <= 0:
            break
        try:
            return way.dial(address, target.port, left)
        except OSError as error:
            fault = error
    raise _failed(f"cannot connect: {fault or 'no time is left'}")


def _addresses(target: Target, way: Way) -> list[str]:
    if is_address(target.host):
        return [target.host.strip("[]")]
    try:
        found = list(way.resolve(target.host, target.port))
    except OSError as error:
        raise _failed(f"no address: {error}") from error
    fit = [address for address in found if may_lead_to(target.host, address)]
    if not fit:
        raise _Ended(403, "it has no public address", detail=f": {', '.join(found[:4])}")
    return fit


def _failed(reason: str) -> _Ended:
    return _Ended(502, reason, Answer.FAILED)


def proxy_environment(port: int = PORT) -> dict[str, str]:
    """The variables that lead a command in a box to the proxy, and keep its own loopback for itself."""
    address, own = f"http://127.0.0.1:{port}", "localhost,127.0.0.1,::1"
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), address)
    both = {**proxies, "NO_PROXY": own}
    return {
        **both,
        **{name.lower(): value for name, value in both.items()},
        "npm_config_proxy": address,
        "npm_config_https_proxy": address,
        "npm_config_noproxy": own,
        "npm_config_update_notifier": "false",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "NODE_USE_ENV_PROXY": "1",
    }
