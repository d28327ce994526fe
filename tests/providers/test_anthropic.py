"""Claude, through the official SDK's Messages API."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from harness_executor.errors import ProviderError
from harness_executor.providers.anthropic import AnthropicProvider
from harness_executor.providers.base import (
    Reply,
    Request,
    Said,
    Stop,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.providers.script import Script

TOOL = ToolSpec("read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
ASKED = Request("executor", "claude-x", "You are the executor.", (Said("add a route"),), (TOOL,))
WHOLE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "text", "text": "hello"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 4},
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of nobody."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")


@contextmanager
def _model(monkeypatch: pytest.MonkeyPatch, *replies: dict[str, Any]) -> Iterator[LoopbackModel]:
    with LoopbackModel(Script({"executor": [{"replies": replies}]})) as model:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", model.url)
        yield model


@dataclass
class Service:
    """A service that gives every request the same answer."""

    status: int
    body: bytes
    kind: str = "application/json"
    asked: list[str] = field(default_factory=list)


@contextmanager
def _service(monkeypatch: pytest.MonkeyPatch, service: Service) -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            service.asked.append(self.path)
            self.send_response(service.status)
            self.send_header("content-type", service.kind)
            self.send_header("content-length", str(len(service.body)))
            self.end_headers()
            self.wfile.write(service.body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{server.server_port}")
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()


def test_gives_the_text_and_what_it_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text comes back with its stop and its usage."""
    with _service(monkeypatch, Service(200, json.dumps(WHOLE).encode())):
        reply = AnthropicProvider().complete(ASKED)
    assert (reply.text, reply.calls, reply.stop) == ("hello", (), Stop.END)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (3, 4)


def test_gives_the_calls_of_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call comes back with its name, its arguments and an id of its own."""
    calls = [{"name": "read_file", "arguments": {"path": path}} for path in ("a.py", "b.py")]
    with _model(monkeypatch, {"text": "looking", "calls": calls}):
        reply = AnthropicProvider().complete(ASKED)
    assert reply.text == "looking"
    assert reply.stop is Stop.TOOLS
    assert [(call.name, call.arguments) for call in reply.calls] == [
        ("read_file", {"path": "a.py"}),
        ("read_file", {"path": "b.py"}),
    ]
    assert len({call.id for call in reply.calls}) == 2


@pytest.mark.parametrize("stop", list(Stop))
def test_every_stop_of_a_script_is_told_apart(monkeypatch: pytest.MonkeyPatch, stop: Stop) -> None:
    """A script's stop arrives through the real SDK as the same stop."""
    with _model(monkeypatch, {"text": "x", "stop": stop.value}):
        assert AnthropicProvider().complete(ASKED).stop is stop


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", Stop.END),
        ("stop_sequence", Stop.END),
        ("tool_use", Stop.TOOLS),
        ("max_tokens", Stop.LENGTH),
        ("model_context_window_exceeded", Stop.LENGTH),
        ("refusal", Stop.REFUSAL),
        ("pause_turn", Stop.OTHER),
        ("something_new", Stop.OTHER),
        (None, Stop.OTHER),
    ],
)
def test_every_reason_to_stop_has_its_meaning(
    monkeypatch: pytest.MonkeyPatch, reason: str | None, stop: Stop
) -> None:
    """A reason nobody knows is neither an end nor a length."""
    with _service(monkeypatch, Service(200, json.dumps({**WHOLE, "stop_reason": reason}).encode())):
        assert AnthropicProvider().complete(ASKED).stop is stop


def test_blocks_nobody_asked_for_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thinking is not part of the text."""
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    body = json.dumps({**WHOLE, "content": [thinking, *WHOLE["content"]]}).encode()
    with _service(monkeypatch, Service(200, body)):
        assert AnthropicProvider().complete(ASKED).text == "hello"


def test_sends_the_conversation_as_the_protocol_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """System, tools, texts, calls and results stand where the service expects them."""
    turns = (
        Said("add a route"),
        Reply("looking", (ToolCall("c1", "read_file", {"path": "a.py"}),)),
        Said(results=(ToolResult("c1", "no such file", is_error=True),)),
        Reply("hm"),
        Said("go on"),
    )
    request = Request("executor", "claude-x", "You are the executor.", turns, (TOOL,), max_tokens=99)
    with _model(monkeypatch, *[{"text": "ok"}] * 3) as model:
        AnthropicProvider().complete(request)
    (sent,) = model.requests
    assert (sent["model"], sent["system"], sent["max_tokens"]) == ("claude-x", "You are the executor.", 99)
    assert sent["tools"] == [
        {"name": "read_file", "description": "Read a file.", "input_schema": dict(TOOL.schema)}
    ]
    assert sent["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "add a route"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "looking"},
                {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a.py"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "no such file", "is_error": True}
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "hm"}]},
        {"role": "user", "content": [{"type": "text", "text": "go on"}]},
    ]
    assert not sent.get("stream")


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_answer_with_nothing_in_it_can_be_repeated(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A service refuses empty content, so an empty answer is sent back as words."""
    request = Request("executor", "m", "You are the executor.", (Said("a"), Reply(text), Said("b")))
    with _model(monkeypatch, *[{"text": "ok"}] * 2) as model:
        AnthropicProvider().complete(request)
    assert model.requests[0]["messages"][1]["content"] == [{"type": "text", "text": "(nothing)"}]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429, 500, 529])
def test_an_error_of_the_service_is_named_and_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """The status and the words of the service are in the error, after one request."""
    error = {"type": "error", "error": {"type": "any_error", "message": "words of the service"}}
    with (
        _service(monkeypatch, Service(status, json.dumps(error).encode())) as service,
        pytest.raises(ProviderError, match=f"the model answered {status}: .*words of the service") as raised,
    ):
        AnthropicProvider().complete(ASKED)
    assert service.asked == ["/v1/messages"]
    assert raised.value.hint
    assert "sk-test" not in raised.value.message


def test_a_page_of_a_proxy_is_not_repeated_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an error page only the beginning is said."""
    with (
        _service(monkeypatch, Service(502, b"<h1>bad gateway</h1>" * 1000, "text/html")),
        pytest.raises(ProviderError, match="the model answered 502: <h1>bad gateway") as raised,
    ):
        AnthropicProvider().complete(ASKED)
    assert len(raised.value.message) < 600


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>sign in</html>", "text/html"),
        (b"{nope", "application/json"),
        (b"null", "application/json"),
        (b"[]", "application/json"),
        (b"{}", "application/json"),
        (json.dumps({**WHOLE, "content": "hello"}).encode(), "application/json"),
        (json.dumps({**WHOLE, "content": None}).encode(), "application/json"),
        (json.dumps({**WHOLE, "usage": None}).encode(), "application/json"),
        (json.dumps({**WHOLE, "usage": {}}).encode(), "application/json"),
    ],
)
def test_an_answer_that_is_no_message_is_named(
    monkeypatch: pytest.MonkeyPatch, body: bytes, kind: str
) -> None:
    """Whatever a wrong address answers with 200, it is an error with words and not a crash."""
    with (
        _service(monkeypatch, Service(200, body, kind)),
        pytest.raises(ProviderError, match="something that is no message") as raised,
    ):
        AnthropicProvider().complete(ASKED)
    assert "ANTHROPIC_BASE_URL" in raised.value.hint


def test_a_service_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection is an error that says what to check."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(ProviderError, match="the model could not be reached") as raised:
            AnthropicProvider().complete(ASKED)
    assert raised.value.hint


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key nothing is sent, and the error says so."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with (
        _service(monkeypatch, Service(200, b"{}")) as service,
        pytest.raises(ProviderError, match="authentication") as raised,
    ):
        AnthropicProvider().complete(ASKED)
    assert service.asked == []
    assert raised.value.hint


@pytest.mark.parametrize("odd", [None, [], "text", 3])
def test_arguments_that_are_no_object_are_empty(monkeypatch: pytest.MonkeyPatch, odd: Any) -> None:
    """A call with arguments of another shape has none, so that the tool refuses it."""
    call = {"type": "tool_use", "id": "t", "name": "read_file", "input": odd}
    with _service(monkeypatch, Service(200, json.dumps({**WHOLE, "content": [call]}).encode())):
        assert AnthropicProvider().complete(ASKED).calls == (ToolCall("t", "read_file", {}),)
