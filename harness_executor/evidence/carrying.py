"""HTTP over connections that somebody else makes."""

from collections.abc import Iterable
from contextlib import suppress
from select import POLLIN, poll
from socket import IPPROTO_TCP, MSG_PEEK, SHUT_RDWR, TCP_NODELAY, socket
from typing import Any

import httpcore2
import httpx2

from harness_executor.evidence.dialing import Dial

_PARTING = 3
"""Milliseconds in which a server that has answered may still close its connection."""


class Dialed(httpx2.HTTPTransport):
    """A transport whose connections are dialed."""

    def __init__(self, dial: Dial) -> None:
        # only plain http is spoken, and loading certificates for nothing takes 50 ms
        super().__init__(verify=False, trust_env=False)
        self._pool = httpcore2.ConnectionPool(network_backend=_Network(dial))


class _Network(httpcore2.NetworkBackend):
    def __init__(self, dial: Dial) -> None:
        self.dial = dial

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - it is always 127.0.0.1, of the box or of this machine
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - who dials has a limit of its own
        local_address: str | None = None,  # noqa: ARG002 - as above
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 - none are set
    ) -> httpcore2.NetworkStream:
        try:
            line = self.dial(port)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        line.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        return _Stream(line)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, line: socket) -> None:
        self.line = line

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            self.line.settimeout(timeout)
            return self.line.recv(max_bytes)
        except TimeoutError as error:
            raise httpcore2.ReadTimeout(str(error)) from error
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            self.line.settimeout(timeout)
            self.line.sendall(buffer)
        except TimeoutError as error:
            raise httpcore2.WriteTimeout(str(error)) from error
        except OSError as error:
            raise httpcore2.WriteError(str(error)) from error

    def close(self) -> None:
        with suppress(OSError):
            self.line.shutdown(SHUT_RDWR)
        self.line.close()

    def start_tls(self, *_: object, **__: object) -> httpcore2.NetworkStream:
        raise httpcore2.ConnectError("a server under test is spoken to without TLS")

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return self._is_over()
        return self.line if info == "socket" else None

    def _is_over(self) -> bool:
        """Did the server close it? What else it says unasked is left to spoil the next answer."""
        watch = poll()
        try:
            watch.register(self.line, POLLIN)
            return bool(watch.poll(_PARTING)) and not self.line.recv(1, MSG_PEEK)
        except (OSError, ValueError):
            return True
