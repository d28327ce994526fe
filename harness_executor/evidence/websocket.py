"""A short talk over a WebSocket: what is sent, and the first frames that come back."""

import base64
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from socket import socket
from typing import Any

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from harness_executor.clock import Clock
from harness_executor.evidence.asking import BASE64, as_bytes
from harness_executor.evidence.streams import meant
from harness_executor.kernel.acts import Listening
from harness_executor.kernel.canonical import canonical

_MOST = 8_000_000
_OFFERED = "sec-websocket-protocol"


class Unheard(ValueError):
    """A WebSocket on which not enough was said."""


@dataclass
class Talk:
    """One connection, from the handshake to the last frame that is waited for."""

    line: socket
    clock: Clock
    listening: Listening
    frames: list[Any] = field(default_factory=list)
    parts: list[Frame] = field(default_factory=list)
    """Of a message that is not whole yet."""

    def hold(self, url: str, headers: Mapping[str, str]) -> tuple[Response, list[Any]]:
        """The answer to the handshake, and the frames; an upgrade that was refused has none."""
        if any(mark in text for pair in headers.items() for text in pair for mark in "\r\n\0"):
            raise Unheard("a header has more than one line")
        offered = [Subprotocol(word.strip()) for word in headers.get(_OFFERED, "").split(",") if word.strip()]
        address = parse_uri(url.replace("http://", "ws://", 1))
        protocol = ClientProtocol(address, subprotocols=offered or None, max_size=_MOST)
        request = protocol.connect()
        for name, value in headers.items():
            if name != _OFFERED:
                request.headers.pop(name, None)
                request.headers[name] = value
        protocol.send_request(request)
        until = self.clock.monotonic() + self.listening.seconds
        response: Response | None = None
        for event in self._events(protocol, until):
            if isinstance(event, Response):
                response = event
                self._greet(protocol)
            elif isinstance(event, Frame):
                self._hear(event)
            if self._is_over(protocol, response):
                break
        self._take_leave(protocol)
        return self._outcome(protocol, response)

    def _greet(self, protocol: ClientProtocol) -> None:
        if protocol.handshake_exc is not None:
            return
        for frame in self.listening.send:
            if isinstance(frame, str) and frame.startswith(BASE64):
                protocol.send_binary(as_bytes(frame))
            else:
                protocol.send_text((frame if isinstance(frame, str) else canonical(frame)).encode())

    def _hear(self, frame: Frame) -> None:
        match frame.opcode:
            case Opcode.CLOSE:
                code = int.from_bytes(frame.data[:2], "big") if frame.data else 1005
                self.frames.append({"close": code, "reason": bytes(frame.data[2:]).decode(errors="replace")})
            case Opcode.TEXT | Opcode.BINARY | Opcode.CONT:
                self.parts.append(frame)
                if frame.fin:
                    self.frames.append(_message(self.parts))
                    self.parts = []

    def _is_over(self, protocol: ClientProtocol, response: Response | None) -> bool:
        refused = response is not None and protocol.handshake_exc is not None
        enough = response is not None and len(self.frames) >= self.listening.frames
        return refused or enough or any(isinstance(one, dict) and "close" in one for one in self.frames[-1:])

    def _events(self, protocol: ClientProtocol, until: float) -> Iterator[Any]:
        while True:
            yield from protocol.events_received()
            for data in protocol.data_to_send():
                if data:
                    self.line.sendall(data)
            if protocol.state is State.CLOSED:
                return
            self._receive(protocol, until)

    def _receive(self, protocol: ClientProtocol, until: float) -> None:
        left = until - self.clock.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self.line.settimeout(left)
            data = self.line.recv(65_536)
        except TimeoutError as error:
            came = f"{len(self.frames)} of {self.listening.frames} frames came"
            raise Unheard(f"{came} within {self.listening.seconds:g} s") from error
        if data:
            # a server that refuses may be an old one, which says so in HTTP/1.0
            is_old = protocol.state is State.CONNECTING and data.startswith(b"HTTP/1.0 ")
            protocol.receive_data(data.replace(b"/1.0", b"/1.1", 1) if is_old else data)
        else:
            protocol.receive_eof()

    def _take_leave(self, protocol: ClientProtocol) -> None:
        with suppress(OSError):
            if protocol.state is State.OPEN:
                protocol.send_close(1000)
            for data in protocol.data_to_send():
                if data:
                    self.line.sendall(data)

    def _outcome(self, protocol: ClientProtocol, response: Response | None) -> tuple[Response, list[Any]]:
        problem = protocol.handshake_exc or protocol.parser_exc
        if response is None or (protocol.handshake_exc and response.status_code == 101):
            raise Unheard(f"the handshake failed: {problem}")
        if protocol.parser_exc and not isinstance(problem, InvalidHandshake | EOFError):
            raise Unheard(f"what came is no WebSocket frame: {problem}")
        return response, self.frames


def _message(parts: list[Frame]) -> Any:
    whole = b"".join(bytes(part.data) for part in parts)
    if parts[0].opcode is Opcode.TEXT:
        return meant(whole.decode(errors="replace"))
    return BASE64 + base64.b64encode(whole).decode()
