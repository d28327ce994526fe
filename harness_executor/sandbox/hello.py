"""The name that a TLS client asks for, read from its first message."""

from harness_executor.kernel.frozen import frozen

LONGEST = 65_536
"""Bytes of a first message, at most."""

_HANDSHAKE, _CLIENT_HELLO = 22, 1
_SERVER_NAME, _HOST_NAME = 0, 0
_ENCRYPTED_HELLO = 0xFE0D


class BadHello(ValueError):
    """What came is not the first message of a TLS client."""


@frozen
class Hello:
    """What a TLS client says before anything is encrypted."""

    name: str
    """The host it asks for; nothing if it does not say."""
    is_veiled: bool = False
    """Does it carry another message, encrypted, that may ask for another host?"""


def read_hello(data: bytes) -> Hello | None:
    """The first message; None while some of it is missing, an error as soon as it is something else."""
    message = _message(data)
    return None if message is None else _hello(message)


def _message(data: bytes) -> bytes | None:
    body, at = b"", 0
    while len(data) >= at + 5:
        length = int.from_bytes(data[at + 3 : at + 5], "big")
        if data[at] != _HANDSHAKE or data[at + 1] != 3 or not 0 < length <= 16_640:
            raise BadHello("not TLS")
        body += data[at + 5 : at + 5 + length]
        at += 5 + length
        if body and body[0] != _CLIENT_HELLO:
            raise BadHello("not the first message of a client")
        wanted = 4 + int.from_bytes(body[1:4], "big")
        if len(body) >= 4 and (wanted > LONGEST or len(body) > wanted):
            raise BadHello("the first message has no such length")
        if len(body) == wanted and len(body) >= 4:
            return body[4:]
    if data[at : at + 1] not in (b"", bytes([_HANDSHAKE])):
        raise BadHello("not TLS")
    return None


def _hello(message: bytes) -> Hello:
    rest = _Rest(message)
    rest.take(2 + 32)
    for width in (1, 2, 1):  # the session, the ciphers, the compressions
        rest.vector(width)
    if not rest.left:
        return Hello("")
    extensions = _Rest(rest.vector(2))
    rest.end()
    names, veiled = [], False
    while extensions.left:
        kind, content = extensions.number(2), extensions.vector(2)
        veiled = veiled or kind == _ENCRYPTED_HELLO
        if kind == _SERVER_NAME:
            names.append(_name(content))
    if len(names) > 1:
        raise BadHello("two names")
    return Hello(names[0] if names else "", veiled)


def _name(content: bytes) -> str:
    rest = _Rest(content)
    entries = _Rest(rest.vector(2))
    rest.end()
    kind, name = entries.number(1), entries.vector(2)
    entries.end()
    if kind != _HOST_NAME or not name.isascii():
        raise BadHello("a name of another kind")
    return name.decode("ascii")


class _Rest:
    """What is still to be read of a message."""

    def __init__(self, left: bytes) -> None:
        self.left = left

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if count > len(self.left):
            raise BadHello("it ends too early")
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def number(self, width: int) -> int:
        """The next number, of so many bytes."""
        return int.from_bytes(self.take(width), "big")

    def vector(self, width: int) -> bytes:
        """The next bytes that a number of so many bytes announces."""
        return self.take(self.number(width))

    def end(self) -> None:
        """Nothing may be left."""
        if self.left:
            raise BadHello("something is left over")
