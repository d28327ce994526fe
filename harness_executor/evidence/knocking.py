"""Is there an answer? The least a client can say, for servers that may not be up yet."""

from collections.abc import Callable
from contextlib import suppress
from socket import socket

from harness_executor.clock import Clock
from harness_executor.evidence.asking import AGENT
from harness_executor.evidence.dialing import Dial
from harness_executor.kernel.frozen import frozen

_MOST = 65_536
_TLS = (b"\x15\x03", b"\x16\x03")
"""How a server begins that speaks TLS."""


@frozen
class Heard:
    """What a server said to one question, as far as it was waited for."""

    status: int
    """0 when it was no HTTP."""
    body: bytes = b""

    @property
    def is_redirect(self) -> bool:
        """Does it only say where else to ask?"""
        return 300 <= self.status < 400


@frozen
class Asker:
    """Asks one port of a server."""

    dial: Dial
    port: int
    clock: Clock

    def get(self, path: str, seconds: float, *, whole: bool = False) -> Heard | None:
        """The answer to a GET, or nothing; the body is waited for only when it is wanted."""
        words = (
            f"GET {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"User-Agent: {AGENT}",
            "Accept: */*",
            "Connection: close",
        )
        request = "\r\n".join((*words, "", "")).encode(errors="replace")
        said = self._said(request, seconds, lambda data: _is_enough(data, whole=whole))
        return _heard(said) if said else None

    def speaks_tls(self) -> bool:
        """Does it answer to the first message of TLS?"""
        import ssl  # noqa: PLC0415 - takes a while to load, and few servers are asked this

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        come, go = ssl.MemoryBIO(), ssl.MemoryBIO()
        with suppress(ssl.SSLWantReadError):
            context.wrap_bio(come, go).do_handshake()
        return self._said(go.read(), 2.0, lambda data: len(data) >= 2).startswith(_TLS)

    def _said(self, request: bytes, seconds: float, is_enough: Callable[[bytes], bool]) -> bytes:
        end = self.clock.monotonic() + seconds
        said = b""
        with suppress(OSError), self.dial(self.port) as line:
            line.settimeout(seconds)
            line.sendall(request)
            while not is_enough(said) and (more := self._more(line, end)):
                said += more
        return said

    def _more(self, line: socket, end: float) -> bytes:
        left = end - self.clock.monotonic()
        if left <= 0:
            return b""
        line.settimeout(left)
        return line.recv(_MOST)


def _is_enough(data: bytes, *, whole: bool) -> bool:
    head, end, body = data.partition(b"\r\n\r\n")
    if len(data) > _MOST or (end and not whole):
        return True
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = lengths[0].partition(b":")[2].strip() if lengths else b""
    return bool(end) and length.isdigit() and len(body) >= int(length)


def _heard(data: bytes) -> Heard:
    head, end, body = data.partition(b"\r\n\r\n")
    words = head.split(b"\r\n")[0].split()
    is_http = end and len(words) >= 2 and words[0].startswith(b"HTTP/") and words[1].isdigit()
    return Heard(int(words[1]), body) if is_http else Heard(0, data[:_MOST])
