"""Any server that speaks Chat Completions."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from harness_executor.errors import ProviderFault
from harness_executor.providers import openai
from harness_executor.providers.base import Reply, Request, Said, Stop, ToolCall, ToolResult, ToolSpec, Usage
from harness_executor.providers.chat import ChatProvider
from harness_executor.providers.loopback import LoopbackModel, Trouble
from harness_executor.providers.script import Script
from harness_executor.providers.wire import Access

TOOL = ToolSpec("read_file", "Read a file.", {"type": "object"})
ASKED = Request("executor", "m", "You are the executor.", (Said("add a route"),), (TOOL,))
SCRIPT = Script({"executor": [{"replies": [{"text": "ok"}] * 9}]})


def _frames(*chunks: Mapping[str, Any]) -> tuple[bytes, ...]:
    return tuple(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks)


def _delta(stop: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]}


def _streamed(*chunks: Mapping[str, Any]) -> Reply:
    with LoopbackModel(SCRIPT, [Trouble(frames=_frames(*chunks))]) as model:
        return ChatProvider(openai.direct(Access(f"{model.url}/v1", "k"))).complete(ASKED)


def test_sends_the_conversation_as_the_protocol_has_it() -> None:
    """System, tools, texts, calls and results stand where servers expect them."""
    turns = (
        Said("add a route"),
        Reply("looking", (ToolCall("c1", "read_file", {"path": "é"}), ToolCall("c2", "read_file", {}))),
        Said("and hurry", (ToolResult("c1", "no such file", is_error=True), ToolResult("c2", "ok"))),
        Reply(" "),
        Said("go on"),
    )
    request = Request("executor", "m", "You are the executor.", turns, (TOOL,), max_tokens=99)
    with LoopbackModel(SCRIPT) as model:
        ChatProvider(openai.direct(Access(f"{model.url}/v1", "k"))).complete(request)
    (sent,) = model.requests
    assert (sent["model"], sent["max_tokens"], sent["stream_options"]) == ("m", 99, {"include_usage": True})
    assert sent["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "read_file",
                "description": "Read a file.",
                "parameters": {"type": "object"},
            },
        }
    ]
    functions = [{"name": "read_file", "arguments": text} for text in ('{"path": "é"}', "{}")]
    calls = [
        {"id": f"c{at}", "type": "function", "function": one} for at, one in enumerate(functions, start=1)
    ]
    assert sent["messages"] == [
        {"role": "system", "content": "You are the executor."},
        {"role": "user", "content": "add a route"},
        {"role": "assistant", "content": "looking", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "no such file"},
        {"role": "tool", "tool_call_id": "c2", "content": "ok"},
        {"role": "user", "content": "and hurry"},
        {"role": "assistant", "content": "(nothing)"},
        {"role": "user", "content": "go on"},
    ]
    assert list(sent)[-1] == "messages"


def test_newer_models_are_told_their_limit_by_its_newer_name() -> None:
    """Where `max_tokens` is refused, the other name is sent instead."""
    with LoopbackModel(SCRIPT) as model:
        sdk = openai.direct(Access(f"{model.url}/v1", "k"))
        ChatProvider(sdk, cap="max_completion_tokens").complete(ASKED)
    assert "max_tokens" not in model.requests[0]
    assert model.requests[0]["max_completion_tokens"] == ASKED.max_tokens


def test_calls_are_put_together_by_their_number() -> None:
    """Parts of two calls may come in any order."""
    reply = _streamed(
        _delta(tool_calls=[{"index": 1, "id": "b", "function": {"name": "two", "arguments": '{"x"'}}]),
        _delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "one", "arguments": "{"}}]),
        _delta(tool_calls=[{"index": 1, "function": {"arguments": ": 2}"}}]),
        _delta(tool_calls=[{"index": 0, "function": {"arguments": "}"}}]),
        _delta("tool_calls"),
    )
    assert reply.calls == (ToolCall("a", "one", {}), ToolCall("b", "two", {"x": 2}))


def test_calls_without_a_number_are_kept_apart() -> None:
    """Some servers send each call whole and number none."""
    function = {"name": "one", "arguments": '{"x": 1}'}
    reply = _streamed(
        _delta(tool_calls=[{"id": "a", "function": function}, {"id": "b", "function": function}]),
        _delta(tool_calls=[{"id": "c", "function": {"name": "two", "arguments": {"y": 2}}}]),
        _delta("stop"),
    )
    assert [(call.id, call.arguments) for call in reply.calls] == [
        ("a", {"x": 1}),
        ("b", {"x": 1}),
        ("c", {"y": 2}),
    ]
    assert reply.stop is Stop.TOOLS


def test_the_count_may_come_with_the_last_words_or_not_at_all() -> None:
    """Servers differ in where the usage stands; one that has none is not free."""
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    assert _streamed({**_delta("stop", content="x"), "usage": usage}).usage == Usage(5, 2)
    assert _streamed(_delta("stop", content="x")).usage is None


def test_another_choice_is_not_heard() -> None:
    """Only the first of several answers counts."""
    other = {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}
    assert _streamed(other, _delta("stop", content="mine")).text == "mine"
    with pytest.raises(ProviderFault, match="ended before finish_reason"):
        _streamed(_delta(content="mine"), other)


def test_reasoning_is_neither_text_nor_sent_back() -> None:
    """What a server shows of its thoughts is left to it."""
    reply = _streamed(_delta(reasoning_content="hm"), _delta("stop", content="so"))
    assert reply.text == "so"
    assert "hm" not in json.dumps(reply.kept)


@pytest.mark.parametrize("body", [{"error": {"message": "busy", "code": 503}}, {"choices": []}])
def test_an_error_that_comes_with_200_is_no_answer(body: dict[str, Any]) -> None:
    """Some gateways answer 200 whatever happens."""
    with LoopbackModel(SCRIPT, [Trouble(body=json.dumps(body).encode())]) as model:
        provider = ChatProvider(openai.direct(Access(f"{model.url}/v1", "k", stream=False)), stream=False)
        with pytest.raises(ProviderFault):
            provider.complete(ASKED)


def test_a_completion_that_does_not_say_why_it_stopped_is_no_answer() -> None:
    """Also without a stream, the reason is what ends an answer."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "half"}, "finish_reason": None}
    body = json.dumps({"id": "c", "choices": [choice]}).encode()
    with LoopbackModel(SCRIPT, [Trouble(body=body)]) as model:
        provider = ChatProvider(openai.direct(Access(f"{model.url}/v1", "k", stream=False)), stream=False)
        with pytest.raises(ProviderFault, match="why it stopped"):
            provider.complete(ASKED)
