"""Bytes of a service, read in the pieces its protocol has."""

from abc import ABC, abstractmethod
from socket import socket
from typing import Self

from harness_executor.evidence.services.base import Address, Dial, Unanswered

MOST = 16_000_000
"""Bytes of one conversation."""


class Line:
    """A connection that is read exactly, and not for ever."""

    def __init__(self, connection: socket, seconds: float = 30.0) -> None:
        self.connection = connection
        self.connection.settimeout(seconds)
        self.held = b""
        self.left = MOST

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def send(self, data: bytes) -> None:
        """Say something."""
        self.connection.sendall(data)

    def exactly(self, count: int) -> bytes:
        """So many bytes."""
        while len(self.held) < count:
            self._more()
        found, self.held = self.held[:count], self.held[count:]
        return found

    def line(self) -> bytes:
        """Everything up to the end of a line, without it."""
        while b"\r\n" not in self.held:
            self._more()
        found, _, self.held = self.held.partition(b"\r\n")
        return found

    def _more(self) -> None:
        data = self.connection.recv(65_536)
        self.left -= len(data)
        if not data:
            raise Unanswered("it hung up")
        if self.left < 0:
            raise Unanswered("it said more than is read")
        self.held += data


class Talk(ABC):
    """A connection that has to be let in first."""

    def __init__(self, dial: Dial, address: Address) -> None:
        self.line = Line(dial(address.port))
        self.address = address
        try:
            self._enter()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.line.connection.close()

    @abstractmethod
    def _enter(self) -> None: ...
