"""The head of a request to a proxy, read by one strict grammar."""

import re

from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.hosts import Target, read_target

END = b"\r\n\r\n"

_ALIEN = re.compile(rb"[^\t\r\n\x20-\x7e]|(?<!\r)\n|\r(?!\n|\Z)|\A[^A-Z]")
_LINE = re.compile(r"([A-Z]+) ([!-~]+) (HTTP/1\.[01])")
_ADDRESS = re.compile(r"http://([^/?#\\]*)(/[^#\\]*)?")
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[!-~](?:[\t -~]*[!-~])?)?)[ \t]*")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_FIELDS = 100
_LENGTH = re.compile(r"[0-9]{1,15}")
_HOP = re.compile(
    r"proxy-.*|connection|keep-alive|te|trailer|upgrade|http2-settings|host|content-length", re.I
)
_CREDENTIAL = re.compile(r"auth|cookie|token|key|secret|password|credential", re.I)


class BadHead(ValueError):
    """What came is no request that a proxy answers."""


@frozen
class Head:
    """A request: where it goes, and what it says."""

    method: str
    target: Target
    path: str
    """What is asked of the host; nothing when a tunnel is."""
    version: str
    fields: tuple[tuple[str, str], ...] = ()
    length: int | None = None
    """Bytes of the body, if any was announced."""

    @property
    def is_tunnel(self) -> bool:
        """Is a tunnel asked for?"""
        return self.method == "CONNECT"

    def forwarded(self) -> bytes:
        """The head as it goes to the host: its name in one spelling, nothing for proxies, no credential."""
        named = {name.strip().lower() for value in self.values("connection") for name in value.split(",")}
        kept = [
            f"{name}: {value}"
            for name, value in self.fields
            if not (_HOP.fullmatch(name) or _CREDENTIAL.search(name) or name.lower() in named)
        ]
        host = self.target.host if self.target.port == 80 else str(self.target)
        body = [] if self.length is None else [f"Content-Length: {self.length}"]
        lines = [f"{self.method} {self.path} {self.version}", f"Host: {host}", *kept, *body]
        return "\r\n".join([*lines, "Connection: close", "", ""]).encode()

    def values(self, name: str) -> list[str]:
        """The values of every field of this name."""
        return [value for given, value in self.fields if given.lower() == name]


def find_end(data: bytes) -> int | None:
    """Where the head ends; None while it may still come, an error as soon as it cannot."""
    at = data.find(END)
    end = None if at < 0 else at + len(END)
    if _ALIEN.search(data, 0, len(data) if end is None else end):
        raise BadHead("bytes that no request has")
    first, is_whole, _ = data.partition(b"\r\n")
    if is_whole and not _LINE.fullmatch(first.decode("ascii")):
        raise BadHead("the first line is no request to a proxy")
    return end


def read_head(data: bytes) -> Head:
    """The request of a whole head."""
    if find_end(data) != len(data):
        raise BadHead("not one whole head")
    first, *lines = data[: -len(END)].decode("ascii").split("\r\n")
    method, asked, version = first.split(" ")
    target, path = _aim(method, asked)
    fields = tuple(map(_field, lines))
    if len(fields) > _FIELDS:
        raise BadHead(f"more than {_FIELDS} fields")
    head = Head(method, target, path, version, fields, _length(fields))
    if head.is_tunnel and head.length:
        raise BadHead("a body before the tunnel")
    _check_host(head)
    return head


def _aim(method: str, asked: str) -> tuple[Target, str]:
    if method == "CONNECT":
        target, path = read_target(asked), ""
    elif method in _METHODS and (found := _ADDRESS.fullmatch(asked)):
        target, path = read_target(found[1], 80), found[2] or "/"
    else:
        raise BadHead("neither CONNECT nor a request for an http:// address")
    if target is None:
        raise BadHead("the host is not written as host names are")
    return target, path


def _field(line: str) -> tuple[str, str]:
    found = _FIELD.fullmatch(line)
    if found is None:
        raise BadHead("a line that is no field")
    if found[1].lower() == "transfer-encoding":
        raise BadHead("a body of unknown length")
    return found[1], found[2]


def _length(fields: tuple[tuple[str, str], ...]) -> int | None:
    given = [value for name, value in fields if name.lower() == "content-length"]
    if len(given) > 1 or not all(map(_LENGTH.fullmatch, given)):
        raise BadHead("the length of the body is unclear")
    return int(given[0]) if given else None


def _check_host(head: Head) -> None:
    """HTTP/1.0 may leave the field out, as the tunnels of Python before 3.12 do."""
    given = head.values("host")
    if not given and head.version == "HTTP/1.0":
        return
    default = 443 if head.is_tunnel else 80
    if len(given) != 1 or read_target(given[0], default) != head.target:
        raise BadHead("Host names another host than the request")
