"""Small servers that do one thing, as programs and as sockets of the test itself."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from harness_executor.evidence.sockets import free_port
from harness_executor.kernel.acts import Call
from harness_executor.kernel.expectation import Expect, JsonCheck, Op
from harness_executor.kernel.scenario import Kind, Scenario, Step
from harness_executor.workspace.project import Readiness, Start
from tests.rooms import PYTHON

JSON_APP = """
import json, os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROUTES = json.loads({routes!r})
OTHERWISE = json.loads({otherwise!r})

class Api(BaseHTTPRequestHandler):
    def do_GET(self):
        status, value = ROUTES.get(self.path, OTHERWISE)
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

{more}
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Api)
print("up", flush=True)
server.serve_forever()
"""

SOCKET_APP = """
import os, signal, socket, sys, threading, time

port = int(sys.argv[1])

def listen(address="127.0.0.1", family=socket.AF_INET, port=port):
    found = socket.socket(family)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind((address, port))
    found.listen()
    print("up", flush=True)
    return found

def answer(listener, text=b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok", times=10**9):
    for _ in range(times):
        connection, _ = listener.accept()
        connection.recv(65536)
        connection.sendall(text)
        connection.close()

"""
"""The beginning of a program that serves by hand."""


def json_app(routes: Mapping[str, tuple[int, Any]], *, otherwise: Any = None, more: str = "") -> str:
    """A program that answers these paths, and says 404 to the rest."""
    rest = otherwise or (404, {"error": "not found"})
    return JSON_APP.format(routes=json.dumps(routes), otherwise=json.dumps(rest), more=more)


def start(*, seconds: float = 20.0, port: int | None = None, **ready: Any) -> Start:
    """How app.py of a tree is started: on any port, or on the one it insists on."""
    number = "{port}" if port is None else str(port)
    ready.setdefault("type", "tcp")
    readiness = Readiness(timeout_seconds=seconds, port=port, **ready)
    return Start(f"exec {PYTHON} app.py {number}", readiness=readiness)


def write_app(tree: Path, code: str) -> Path:
    """A tree with a program in it."""
    tree.mkdir(parents=True, exist_ok=True)
    (tree / "app.py").write_text(code)
    return tree


def get(path: str, status: int | str = 200, *checks: JsonCheck, **step: Any) -> Step:
    """One GET and what must come back."""
    return Step(Call(path), Expect(status, json=checks), **step)


def scenario(name: str, *steps: Step, kind: Kind = Kind.NEW, **fields: Any) -> Scenario:
    """A scenario of these steps."""
    return Scenario(name, f"because of {name}", steps, kind, **fields)


def equals(path: str, value: Any) -> JsonCheck:
    """A value that must stand at a path."""
    return JsonCheck(path, Op.EQUALS, value)


@dataclass
class Seen:
    """A server inside the test, which remembers what it was asked."""

    url: str
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)

    def headers(self, number: int = -1) -> dict[str, str]:
        """The headers of a request, names in lower case."""
        return self.requests[number][2]

    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [path for _, path, _, _ in self.requests]


Reply = tuple[int, Mapping[str, str], bytes]


@contextmanager
def http_server(reply: Callable[[str, str, bytes], Reply]) -> Iterator[Seen]:
    """A real HTTP server in a thread; the given function answers."""
    seen = Seen("")

    class Handler(BaseHTTPRequestHandler):
        def do(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            given = {name.lower(): value for name, value in self.headers.items()}
            seen.requests.append((self.command, self.path, given, body))
            status, headers, content = reply(self.command, self.path, body)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = do_OPTIONS = do  # noqa: N815 - as the library calls them

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    seen.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def raw_server(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that speaks bytes; the given function gets each connection after its request."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    connection.recv(65_536)
                    serve(connection)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


def nobody() -> str:
    """Where no server is."""
    return f"http://127.0.0.1:{free_port()}"
