"""A box's way out, with a canary in the place of the world."""

import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType

from harness_executor.kernel.hosts import read_allowed
from harness_executor.sandbox.egress import Decision, Limits, Way, egress

PUBLIC = "93.184.216.34"
Serve = Callable[[socket.socket], None]


class Listener:
    """Accepts connections on loopback and hands each on."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        host, port = self._socket.getsockname()
        return host, port

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                self._serve(self._socket.accept()[0])

    def close(self) -> None:
        """Accept no more."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)


@dataclass
class Canary:
    """A server that keeps what it is sent and answers 200."""

    heard: list[bytes] = field(default_factory=list)

    def serve(self, connection: socket.socket) -> None:
        """Answer one connection in a thread."""
        threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(10)
            data = b""
            while b"\r\n\r\n" not in data and (more := connection.recv(65_536)):
                data += more
            self.heard.append(data)
            if data:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ncanary")


class Outside:
    """The proxy on loopback; every connection it makes goes to the canary, and is counted."""

    def __init__(
        self,
        entries: Iterable[str],
        *,
        serve: Serve | None = None,
        names: Mapping[str, list[str]] | None = None,
        limits: Limits | None = None,
        is_careless: bool = False,
    ) -> None:
        self.canary = Canary()
        self.dialled: list[tuple[str, int]] = []
        self.resolved: list[str] = []
        self.told: list[Decision] = []
        self._names = names or {}
        self._canary = Listener(serve or self.canary.serve)
        self.way = Way(read_allowed(entries), self.told.append, limits or Limits(), self.resolve, self.dial)
        self.egress = egress(self.way)
        self.lost = ""
        """What fails: `resolve` or `dial`."""
        self._proxy = Listener(self._serve_carelessly if is_careless else self.egress.take)

    def __enter__(self) -> "Outside":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._proxy.close()
        self.egress.close()
        self._canary.close()

    @property
    def port(self) -> int:
        """Where the proxy listens."""
        return self._proxy.address[1]

    def resolve(self, host: str, _: int) -> list[str]:
        """Every name has the same public address, unless a test says otherwise."""
        self.resolved.append(host)
        if self.lost == "resolve":
            raise socket.gaierror(-2, "no such name")
        return self._names.get(host, [PUBLIC])

    def dial(self, address: str, port: int, seconds: float) -> socket.socket:
        """Every address is the canary's."""
        self.dialled.append((address, port))
        if self.lost == "dial":
            raise ConnectionRefusedError(111, "nobody there")
        return socket.create_connection(self._canary.address, seconds)

    def connect(self) -> socket.socket:
        """A connection to the proxy."""
        return socket.create_connection(self._proxy.address, 10)

    def ask(self, request: str | bytes) -> bytes:
        """Everything the proxy answers to these bytes."""
        with self.connect() as connection:
            connection.sendall(request if isinstance(request, bytes) else request.encode())
            return read_all(connection)

    def _serve_carelessly(self, client: socket.socket) -> None:
        """The defence away: read a host out of whatever comes, and connect."""
        with client:
            data = client.recv(65_536)
            host = data.split()[1].rpartition(b"//")[2]
            with self.dial(host.decode("utf-8", "replace"), 0, 10) as server:
                server.sendall(data.replace(b"\n\n", b"\n\r\n\r\n") + b"\r\n\r\n")
                client.sendall(read_all(server))


def read_all(connection: socket.socket) -> bytes:
    """Everything until the other side ends."""
    data = b""
    with suppress(ConnectionResetError):
        while more := connection.recv(65_536):
            data += more
    return data


def status(answer: bytes) -> int:
    """The status of an answer; 0 for none."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0
