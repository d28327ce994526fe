"""The loopback model: one port, every protocol, and a script or trouble behind it."""

import json
import socket
import socketserver
import struct
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from harness_executor.errors import ProviderError
from harness_executor.providers.loopback.chat import Chat
from harness_executor.providers.loopback.messages import Bedrock, Messages
from harness_executor.providers.loopback.protocol import Answer, Asked, Used, WireProtocol
from harness_executor.providers.loopback.responses import Responses
from harness_executor.providers.loopback.trouble import Trouble
from harness_executor.providers.script import Script

ROLES = ("planner", "executor", "verifier", "reviewer")

_ROUTES: tuple[tuple[str, WireProtocol], ...] = (
    ("/messages", Messages()),
    ("/responses", Responses()),
    ("/chat/completions", Chat()),
    ("/invoke", Bedrock()),
    ("/invoke-with-response-stream", Bedrock()),
    (":rawPredict", Messages()),
    (":streamRawPredict", Messages()),
)
"""How a path ends, and what is spoken there."""

_CALM = Trouble()
_RESET = struct.pack("ii", 1, 0)
_FILLING = b"10000\r\n" + b" " * 65536 + b"\r\n"


class LoopbackModel:
    """A scripted model behind real HTTP, for as long as the block lasts."""

    def __init__(
        self, script: Script, troubles: Iterable[Trouble | None] = (), *, delay: float = 0.0
    ) -> None:
        self.script = script
        self.troubles = iter(troubles)
        """What goes wrong, one for each request in turn; afterwards, or for None, all goes well."""
        self.delay = delay
        """Seconds that every answer takes."""
        self.requests: list[dict[str, Any]] = []
        """Every request, as it was understood."""
        self.bodies: list[bytes] = []
        """Every request, as it came."""
        self.headers: list[dict[str, str]] = []
        """The header fields of every request, with small letters."""
        self.paths: list[str] = []
        """Where every request was sent."""
        self.connections = 0
        """How many connections were made."""
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self.server = _Server(self)

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> "LoopbackModel":
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        for connection in list(self.server.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def take(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Trouble]:
        """Note a request; gives its number and what goes wrong with it."""
        asked = json.loads(body)
        with self.lock:
            self.requests.append(asked)
            self.bodies.append(body)
            self.headers.append(headers)
            self.paths.append(path)
            return len(self.requests), next(self.troubles, None) or _CALM

    def reply(self, asked: Asked, number: int, size: int) -> Answer:
        """What the script says to a request of this many bytes; raises ProviderError when it says nothing."""
        role = next((role for role in ROLES if f"You are the {role}" in asked.system), "")
        data = self.script.reply(role, asked.prompt, asked.turn)
        usual = {"fresh": size // 4, "output": len(json.dumps(data)) // 4}
        usage = data.get("usage", usual)
        return Answer(data, number, asked.model, Used(**usage) if usage is not None else None)


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    request_queue_size = 128
    allow_reuse_address = True

    def __init__(self, model: LoopbackModel) -> None:
        self.model = model
        self.connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Connection)


class _Connection(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    server: _Server

    def handle(self) -> None:
        with self.server.model.lock:
            self.server.model.connections += 1
        self.server.connections.add(self.connection)
        with suppress(ConnectionError):
            while self._exchange():
                pass
        self.server.connections.discard(self.connection)

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()

    def _exchange(self) -> bool:
        words = self.rfile.readline().split()
        if len(words) != 3:
            return False
        headers: dict[str, str] = {}
        while (line := self.rfile.readline().strip()) != b"":
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", "0")))
        path = words[1].decode("latin-1")
        model = self.server.model
        number, trouble = model.take(path, headers, body)
        if model.closing.wait(model.delay + trouble.sleep) if model.delay or trouble.sleep else False:
            return False
        head, blocks = _answer(model, number, path.partition("?")[0], trouble)
        return self._pour(head, blocks, trouble)

    def _pour(self, head: bytes, blocks: Iterable[bytes], trouble: Trouble) -> bool:
        if trouble is _CALM:
            self.connection.sendall(head + b"".join(blocks))
            return True
        if trouble.drop == -1:
            return self._reset()
        for piece in _cut((head,), trouble.piece if trouble.slow_start else 0):
            self._give(piece, trouble.pace if trouble.slow_start else 0.0)
        left = trouble.drop
        for piece in _cut(blocks, trouble.piece):
            if left is not None and len(piece) >= left:
                self._give(piece[:left], 0.0)
                return self._reset()
            left = None if left is None else left - len(piece)
            self._give(piece, trouble.pace)
        return left is None or self._reset()

    def _give(self, piece: bytes, pace: float) -> None:
        self.connection.sendall(piece)
        if pace and self.server.model.closing.wait(pace):
            raise ConnectionAbortedError

    def _reset(self) -> bool:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.connection.close()
        return False


def _answer(model: LoopbackModel, number: int, path: str, trouble: Trouble) -> tuple[bytes, Iterable[bytes]]:
    protocol = next((protocol for end, protocol in _ROUTES if path.endswith(end)), None)
    speaks = protocol or Messages()
    if protocol is None:
        error = speaks.error(404, "", f"nothing is spoken at {path}")
        return _document(404, number, {}, json.dumps(error).encode())
    if trouble.body is not None:
        return _document(trouble.status, number, trouble.headers, trouble.body)
    if trouble.fill:
        return _stream(200, number, {"content-type": speaks.kind, **trouble.headers}, _filling(trouble.fill))
    if trouble.status != 200:
        error = speaks.error(trouble.status, trouble.error, trouble.message)
        return _document(trouble.status, number, trouble.headers, json.dumps(error).encode())
    asked = speaks.read(model.requests[number - 1], path)
    try:
        answer = model.reply(asked, number, len(model.bodies[number - 1]))
    except ProviderError as error:
        refusal = speaks.error(400, "", error.message)
        return _document(400, number, trouble.headers, json.dumps(refusal).encode())
    if not asked.stream:
        body = json.dumps(speaks.whole(answer), ensure_ascii=False).encode()
        return _document(200, number, trouble.headers, body)
    events = _events(speaks, answer, trouble)
    headers = {"content-type": speaks.kind, **trouble.headers}
    return _stream(200, number, headers, [_chunk(b"".join(events)), b"0\r\n\r\n"])


def _events(speaks: WireProtocol, answer: Answer, trouble: Trouble) -> list[bytes]:
    if trouble.frames is not None:
        return list(trouble.frames)
    events = speaks.events(answer)
    if trouble.fails:
        return [*events[: len(events) // 2], speaks.error_event(trouble.fails, trouble.message)]
    return events if trouble.ends else events[:-1]


def _document(
    status: int, number: int, headers: Mapping[str, str], body: bytes
) -> tuple[bytes, Iterable[bytes]]:
    fields = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    return _head(status, number, fields), (body,)


def _stream(
    status: int, number: int, headers: Mapping[str, str], blocks: Iterable[bytes]
) -> tuple[bytes, Iterable[bytes]]:
    return _head(status, number, {"transfer-encoding": "chunked", **headers}), blocks


def _head(status: int, number: int, headers: Mapping[str, str]) -> bytes:
    fields = {"request-id": f"req_{number}", "x-request-id": f"req_{number}", **headers}
    lines = [f"HTTP/1.1 {status} {'OK' if status == 200 else 'Trouble'}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""


def _filling(size: int) -> Iterator[bytes]:
    for _ in range(0, size, 65536):
        yield _FILLING
    yield b"0\r\n\r\n"


def _cut(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    for block in blocks:
        step = size or max(1, len(block))
        yield from (block[at : at + step] for at in range(0, len(block), step))
