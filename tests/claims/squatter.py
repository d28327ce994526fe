"""A server that is not the project's, on the project's port."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _YesToAll(BaseHTTPRequestHandler):
    """Answers as the change should have."""

    def do_GET(self) -> None:
        known = self.path == "/items/count"
        self._say(200 if known else 404, {"count": 1})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        self._say(201, {"id": 1, **json.loads(self.rfile.read(length))})

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _say(self, status: int, value: object) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def squatting(port: int = 0) -> Iterator[int]:
    """A foreign server on a port; gives the port."""
    with ThreadingHTTPServer(("127.0.0.1", port), _YesToAll) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def squatting_on_demand(wishes: Path) -> Iterator[None]:
    """A foreign server on every port that a file in a folder is named after."""
    wishes.mkdir()
    done = threading.Event()
    thread = threading.Thread(target=_grant, args=(wishes, done))
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _grant(wishes: Path, done: threading.Event) -> None:
    servers: dict[str, ThreadingHTTPServer] = {}
    while not done.wait(0.02):
        for name in {path.name for path in wishes.iterdir()} - set(servers):
            servers[name] = ThreadingHTTPServer(("127.0.0.1", int(name)), _YesToAll)
            threading.Thread(target=servers[name].serve_forever, args=(0.05,), daemon=True).start()
    for server in servers.values():
        server.shutdown()
        server.server_close()
