"""One call through an SDK that never leaves the process, so that a fork has nothing left to load."""

import socket
from contextlib import suppress

from harness_executor.errors import ProviderError
from harness_executor.providers.base import Request, Said, ToolSpec
from harness_executor.providers.loopback.chat import Chat
from harness_executor.providers.loopback.messages import Messages
from harness_executor.providers.loopback.protocol import Answer, Used, WireProtocol
from harness_executor.providers.loopback.responses import Responses
from harness_executor.providers.opening import Opened, opened
from harness_executor.providers.registry import Reached
from harness_executor.providers.wire import certificates

_SPOKEN: dict[str, WireProtocol] = {
    "messages": Messages(),
    "foundry": Messages(),
    "responses": Responses(),
    "chat": Chat(),
}
_REQUEST = Request("planner", "m", "s", (Said("p"),), (ToolSpec("t", "d", {"type": "object"}),), 1)
_ANSWER = Answer({"text": "t", "thinking": "h", "calls": [{"name": "t"}]}, 1, "m", Used(1, 1))
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def rehearse(api: str, *, trusts: bool) -> None:
    """Play one streamed call of a protocol; with trust, load the certificates of this machine too."""
    if api in _SPOKEN:
        provider: Opened = opened(api, Reached("http://127.0.0.1:9/v1", "none"))
        provider.sdk.wire.rehearse(_HEAD + b"".join(_SPOKEN[api].events(_ANSWER)))
        with suppress(ProviderError):
            provider.complete(_REQUEST)
    socket.getaddrinfo("127.0.0.1", 9, type=socket.SOCK_STREAM)
    if trusts:
        certificates()
