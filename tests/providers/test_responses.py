"""OpenAI's models, through the Responses API."""

import json
from dataclasses import replace
from typing import Any

import pytest

from harness_executor.errors import ProviderFault, RequestRefused
from harness_executor.providers import openai
from harness_executor.providers.base import (
    Provider,
    Reply,
    Request,
    Said,
    Stop,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from harness_executor.providers.loopback import LoopbackModel, Trouble
from harness_executor.providers.responses import ResponsesProvider
from harness_executor.providers.script import Script
from harness_executor.providers.wire import Access

TOOL = ToolSpec("read_file", "Read a file.", {"type": "object"})
SCRIPT = Script({"executor": [{"replies": [{"text": "ok"}] * 9}]})
MESSAGE = {
    "type": "message",
    "id": "m1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "hello", "annotations": []}],
}


def _ask(*turns: Said | Reply, first: str = "add a route") -> Request:
    return Request("executor", "m", "You are the executor.", (Said(first), *turns), (TOOL,), max_tokens=99)


def _provider(model: LoopbackModel, *, stream: bool = True, is_own: bool = True) -> Provider:
    sdk = openai.direct(Access(f"{model.url}/v1", "k", stream))
    return ResponsesProvider(sdk, stream=stream, is_own=is_own)


def _answered(**document: Any) -> Reply:
    body = json.dumps({"id": "r", "status": "completed", "output": [MESSAGE], **document}).encode()
    with LoopbackModel(SCRIPT, [Trouble(body=body)]) as model:
        return _provider(model, stream=False).complete(_ask())


def test_sends_the_conversation_as_the_protocol_has_it() -> None:
    """Nothing is stored at the service, and everything said stands in the input."""
    turns = (
        Reply("looking", (ToolCall("c1", "read_file", {"path": "é"}),)),
        Said("and hurry", (ToolResult("c1", "no such file"),)),
        Reply(""),
        Said("go on"),
    )
    with LoopbackModel(SCRIPT) as model:
        _provider(model).complete(_ask(*turns))
    (sent,) = model.requests
    assert sent["store"] is False
    assert sent["include"] == ["reasoning.encrypted_content"]
    assert (sent["instructions"], sent["max_output_tokens"]) == ("You are the executor.", 99)
    assert sent["tools"] == [
        {
            "type": "function",
            "name": "read_file",
            "description": "Read a file.",
            "parameters": {"type": "object"},
            "strict": False,
        }
    ]
    spoken = {"type": "message", "role": "assistant"}
    assert sent["input"] == [
        {"role": "user", "content": [{"type": "input_text", "text": "add a route"}]},
        {**spoken, "content": [{"type": "output_text", "text": "looking"}]},
        {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": '{"path": "é"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "no such file"},
        {"role": "user", "content": [{"type": "input_text", "text": "and hurry"}]},
        {**spoken, "content": [{"type": "output_text", "text": "(nothing)"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "go on"}]},
    ]
    assert list(sent)[-1] == "input"


def test_the_cache_key_is_that_of_the_conversation() -> None:
    """It stays the same while a conversation grows, and another conversation has another."""
    with LoopbackModel(SCRIPT) as model:
        provider = _provider(model)
        provider.complete(_ask())
        provider.complete(_ask(Reply("ok"), Said("go on")))
        provider.complete(_ask(first="something else"))
    one, same, other = (sent["prompt_cache_key"] for sent in model.requests)
    assert one == same
    assert one != other
    assert len(one) <= 64


@pytest.mark.parametrize("stream", [True, False])
def test_reasoning_is_sent_back_sealed(stream: bool) -> None:
    """An item of reasoning returns as it came, before the call it led to."""
    script = Script(
        {"executor": [{"replies": [{"thinking": "hm", "calls": [{"name": "read_file"}]}, {"text": "ok"}]}]}
    )
    with LoopbackModel(script) as model:
        provider = _provider(model, stream=stream)
        reply = provider.complete(_ask())
        provider.complete(_ask(reply, Said(results=(ToolResult(reply.calls[0].id, "x"),))))
    items = model.requests[1]["input"][1:3]
    assert items[0] == {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed-1"}
    assert items[1]["type"] == "function_call"


def test_reasoning_that_is_not_sealed_is_left_out() -> None:
    """A service that keeps nothing does not know an item by its id."""
    reply = _answered(output=[{"type": "reasoning", "id": "r", "summary": []}, MESSAGE])
    assert reply.kept == (MESSAGE,)


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("max_output_tokens", Stop.LENGTH), ("content_filter", Stop.REFUSAL), ("new", Stop.OTHER)],
)
def test_an_incomplete_answer_says_why(reason: str, stop: Stop) -> None:
    """Each reason for a part of an answer has its meaning."""
    assert _answered(status="incomplete", incomplete_details={"reason": reason}).stop is stop


@pytest.mark.parametrize(("used", "stop"), [(98, Stop.END), (99, Stop.LENGTH), (120, Stop.LENGTH)])
def test_an_answer_that_used_all_it_may_was_cut_off(used: int, stop: Stop) -> None:
    """Some servers call an answer complete that they ended at its limit."""
    assert _answered(usage={"input_tokens": 5, "output_tokens": used}).stop is stop


def test_a_refusal_is_told_from_an_answer() -> None:
    """Words of refusal are its text, and its stop says so."""
    content = [{"type": "refusal", "refusal": "I will not"}]
    reply = _answered(output=[{**MESSAGE, "content": content}])
    assert (reply.text, reply.stop) == ("I will not", Stop.REFUSAL)


@pytest.mark.parametrize("status", ["in_progress", "queued", "cancelled", None])
def test_an_answer_that_is_not_done_is_none(status: str | None) -> None:
    """Only a closed answer counts, also without a stream."""
    with pytest.raises(ProviderFault):
        _answered(status=status)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("server_error", ProviderFault),
        ("rate_limit_exceeded", ProviderFault),
        ("invalid_prompt", RequestRefused),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_that_failed_is_named(code: str, kind: type[Exception], stream: bool) -> None:
    """A failed response is an error by its code, as a document and as the last event."""
    failed = {"id": "r", "status": "failed", "error": {"code": code, "message": "sorry"}, "output": []}
    event = {"type": "response.failed", "response": failed}
    frame = f"event: response.failed\ndata: {json.dumps(event)}\n\n".encode()
    trouble = Trouble(frames=(frame,)) if stream else Trouble(body=json.dumps(failed).encode())
    with LoopbackModel(SCRIPT, [trouble]) as model, pytest.raises(kind, match="sorry") as raised:
        _provider(model, stream=stream).complete(_ask())
    assert type(raised.value) is kind


@pytest.mark.parametrize("place", [{"output_index": 0}, {}], ids=["numbered", "unnumbered"])
def test_what_the_closing_event_leaves_out_is_taken_from_the_items(place: dict[str, int]) -> None:
    """Some servers close a stream without repeating its items, and some do not number them."""
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.done", **place, "item": MESSAGE},
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}},
    ]
    frames = tuple(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)
    with LoopbackModel(SCRIPT, [Trouble(frames=frames)]) as model:
        assert _provider(model).complete(_ask()).text == "hello"


def test_what_another_protocol_kept_is_not_sent() -> None:
    """After a change of provider, an answer goes back as its words and calls."""
    foreign = ({"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "so"})
    with LoopbackModel(SCRIPT) as model:
        _provider(model).complete(_ask(Reply("so", kept=foreign), Said("go on")))
    assert "signature" not in json.dumps(model.requests[0])
    assert model.requests[0]["input"][1]["content"] == [{"type": "output_text", "text": "so"}]


def _schemas(model: LoopbackModel) -> list[list[str]]:
    return [[name for name in ("text", "response_format") if name in sent] for sent in model.requests]


def test_a_schema_is_said_twice_to_a_service_that_may_know_it_by_another_name() -> None:
    """Some servers hold an answer to a schema only by the name of Chat Completions; OpenAI has one name."""
    asked = replace(_ask(), schema={"type": "object"})
    with LoopbackModel(SCRIPT) as model:
        _provider(model).complete(asked)
        _provider(model, is_own=False).complete(asked)
        _provider(model, is_own=False).complete(_ask())
    assert _schemas(model) == [["text"], ["text", "response_format"], []]
    held = {"name": "answer", "schema": {"type": "object"}, "strict": True}
    assert model.requests[1]["response_format"] == {"type": "json_schema", "json_schema": held}
    assert model.requests[1]["text"] == {"format": {"type": "json_schema", **held}}


def test_a_service_that_minds_is_asked_again_with_one_name_and_then_with_none() -> None:
    """Each refusal becomes a fault, retried under every cap; the schema is said once, then not at all."""
    words = Trouble(400, message="Unsupported parameter: 'response_format'")
    asked = replace(_ask(), schema={"type": "object"})
    with LoopbackModel(SCRIPT, [words, words, words]) as model:
        provider = _provider(model, is_own=False)
        for _ in range(2):
            with pytest.raises(ProviderFault, match="response_format") as raised:
                provider.complete(asked)
            assert (raised.value.said.after, raised.value.said.billed) == (0.0, False)
        with pytest.raises(RequestRefused):
            provider.complete(asked)
        assert provider.complete(asked).text == "ok"
    assert _schemas(model) == [["text", "response_format"], ["text"], [], []]


@pytest.mark.parametrize(("is_own", "held"), [(True, {"strict": False}), (False, {})])
def test_a_service_that_minds_strictness_is_not_told_of_it(is_own: bool, held: dict[str, bool]) -> None:
    """Others are no longer sent the name; OpenAI is still told, as it would hold the model to every tool."""
    words = Trouble(422, message="tools.0.strict: Extra inputs are not permitted")
    with LoopbackModel(SCRIPT, [words]) as model:
        provider = _provider(model, is_own=is_own)
        with pytest.raises(ProviderFault):
            provider.complete(_ask())
        provider.complete(_ask())
    (tool,) = model.requests[1]["tools"]
    assert {name: tool[name] for name in tool if name == "strict"} == held
