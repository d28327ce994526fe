"""Claude, through the official SDK's client for the Messages API."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from harness_executor.errors import ModelUnknown, ProviderError, ProviderFault, RequestRefused
from harness_executor.providers.anthropic import bedrock, direct, foundry, vertex
from harness_executor.providers.base import (
    Provider,
    Reply,
    Request,
    Said,
    Stop,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
)
from harness_executor.providers.loopback import LoopbackModel, Trouble
from harness_executor.providers.script import Script
from harness_executor.providers.wire import Access

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


@pytest.fixture
def model() -> Iterator[LoopbackModel]:
    """A model that answers ten times."""
    with LoopbackModel(Script({"executor": [{"replies": [{"text": "ok"}] * 10}]})) as found:
        yield found


def _provider(model: LoopbackModel, **how: Any) -> Provider:
    return direct(Access(model.url, "sk-test", **how))


def _answered(model: LoopbackModel, change: Mapping[str, Any]) -> Reply:
    body = json.dumps({**WHOLE, **change}).encode()
    model.troubles = iter([Trouble(body=body)])
    return _provider(model, stream=False).complete(ASKED)


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", Stop.END),
        ("stop_sequence", Stop.END),
        ("tool_use", Stop.TOOLS),
        ("max_tokens", Stop.LENGTH),
        ("model_context_window_exceeded", Stop.OVERFLOW),
        ("pause_turn", Stop.PAUSE),
        ("refusal", Stop.REFUSAL),
        ("something_new", Stop.OTHER),
        (None, Stop.OTHER),
    ],
)
def test_every_reason_to_stop_has_its_meaning(model: LoopbackModel, reason: str | None, stop: Stop) -> None:
    """A reason nobody knows is neither an end nor a length."""
    assert _answered(model, {"stop_reason": reason}).stop is stop


def test_the_input_is_all_of_the_input(model: LoopbackModel) -> None:
    """What came from the cache and what went there is counted with the rest."""
    usage = {"input_tokens": 3, "output_tokens": 4}
    assert _answered(model, {"usage": usage}).usage == Usage(3, 4)
    cached = {**usage, "cache_read_input_tokens": 100, "cache_creation_input_tokens": None}
    assert _answered(model, {"usage": cached}).usage == Usage(103, 4, 100, 0)


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"input_tokens": 3}, {"input_tokens": -1, "output_tokens": 4}, {"input_tokens": "3"}],
    ids=str,
)
def test_a_count_that_makes_no_sense_is_unknown(model: LoopbackModel, usage: Any) -> None:
    """An answer that was paid for is not thrown away for its count."""
    reply = _answered(model, {"usage": usage})
    assert (reply.text, reply.usage) == ("hello", None)


@pytest.mark.parametrize("odd", [None, [], "text", 3])
def test_arguments_that_are_no_object_are_a_problem(model: LoopbackModel, odd: Any) -> None:
    """A call with arguments of another shape has none, and is sent back with none."""
    call = {"type": "tool_use", "id": "t", "name": "read_file", "input": odd}
    reply = _answered(model, {"content": [call]})
    assert [(one.id, one.name, one.arguments) for one in reply.calls] == [("t", "read_file", {})]
    assert reply.calls[0].problem
    assert reply.kept == ({**call, "input": {}},)


@pytest.mark.parametrize(
    "content", ["hello", None, 3, [3], [{}], [{"type": "text"}], [{"type": "tool_use"}], {"type": "text"}]
)
def test_content_of_another_shape_is_no_answer(model: LoopbackModel, content: Any) -> None:
    """Whatever is not a list of blocks is an error with words, and not a crash."""
    with pytest.raises(ProviderFault, match="something that is no answer"):
        _answered(model, {"content": content})


def test_a_block_nobody_knows_is_kept_and_not_read(model: LoopbackModel) -> None:
    """A new kind of block goes back as it came, and is no text."""
    new = {"type": "future_block", "payload": {"deep": [1, 2.5, None]}}
    reply = _answered(model, {"content": [new, *WHOLE["content"]]})
    assert reply.text == "hello"
    assert reply.kept[0] == new


def test_sends_the_conversation_as_the_protocol_has_it(model: LoopbackModel) -> None:
    """System, tools, texts, calls and results stand where the service expects them."""
    turns = (
        Said("add a route"),
        Reply("looking", (ToolCall("c1", "read_file", {"path": "a.py"}),)),
        Said(results=(ToolResult("c1", "no such file", is_error=True),)),
        Reply("hm"),
        Said("go on"),
    )
    request = Request("executor", "claude-x", "You are the executor.", turns, (TOOL,), max_tokens=99)
    _provider(model).complete(request)
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
    assert list(sent)[-1] == "messages"


@pytest.mark.parametrize("stream", [True, False])
def test_asks_claude_to_think_and_to_cache(model: LoopbackModel, stream: bool) -> None:
    """Caching and thinking are asked for outside the messages, whose bytes never change."""
    _provider(model, stream=stream).complete(ASKED)
    (sent,) = model.requests
    assert sent["cache_control"] == {"type": "ephemeral"}
    assert sent["thinking"] == {"type": "adaptive"}
    assert sent.get("stream", False) is stream
    assert "cache_control" not in json.dumps(sent["messages"])


def test_asks_nobody_else_for_what_only_claude_has(model: LoopbackModel) -> None:
    """A service the user named gets no thinking and no caching."""
    direct(Access(model.url, "sk-test"), is_own=False).complete(ASKED)
    assert not {"thinking", "cache_control"} & set(model.requests[0])


def test_a_model_that_cannot_think_so_is_asked_again_without(model: LoopbackModel) -> None:
    """The refusal becomes a fault, which is retried under every cap; the next request does not ask."""
    words = "adaptive thinking is not supported on this model"
    model.troubles = iter([Trouble(400, message=words), Trouble(400, message=words)])
    provider = _provider(model)
    with pytest.raises(ProviderFault, match="is not supported") as raised:
        provider.complete(ASKED)
    assert (raised.value.said.after, raised.value.said.billed) == (0.0, False)
    with pytest.raises(RequestRefused):
        provider.complete(ASKED)
    assert provider.complete(ASKED).text == "ok"
    assert ["thinking" in sent for sent in model.requests] == [True, False, False]


def test_a_service_that_cannot_cache_is_asked_again_without(model: LoopbackModel) -> None:
    """The next request has no mark at all."""
    model.troubles = iter([Trouble(400, message="cache_control: Extra inputs are not permitted")])
    provider = _provider(model)
    with pytest.raises(ProviderFault, match="cache_control") as raised:
        provider.complete(ASKED)
    assert raised.value.said.after == 0.0
    assert provider.complete(ASKED).text == "ok"
    assert ["cache_control" in json.dumps(sent) for sent in model.requests] == [True, False]


@pytest.mark.parametrize(("cloud", "path"), [(bedrock, ""), (vertex, "/v1")])
def test_some_clouds_are_told_what_to_cache_block_by_block(
    model: LoopbackModel, monkeypatch: pytest.MonkeyPatch, cloud: Any, path: str
) -> None:
    """The system and the last block are marked, and nothing else; a refusal ends that too."""
    for name in ("AWS_REGION", "CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID"):
        monkeypatch.setenv(name, "somewhere")
    model.troubles = iter([None, Trouble(400, message="system.0.cache_control: not known")])
    provider = cloud(Access(f"{model.url}{path}", "sk-test", stream=False))
    calls = (ToolCall("c1", "read_file", {}), ToolCall("c2", "read_file", {}))
    results = Said(results=(ToolResult("c1", "one"), ToolResult("c2", "two")))
    asked = Request("executor", "m", ASKED.system, (*ASKED.turns, Reply("so", calls), results), (TOOL,))
    provider.complete(asked)
    with pytest.raises(ProviderFault):
        provider.complete(asked)
    provider.complete(asked)
    sent, _, plain = model.requests
    mark = {"cache_control": {"type": "ephemeral"}}
    assert sent["system"] == [{"type": "text", "text": ASKED.system, **mark}]
    assert sent["messages"][-1]["content"][-1].items() >= mark.items()
    assert json.dumps(sent).count("cache_control") == 2
    assert (plain["system"], "cache_control" in json.dumps(plain)) == (ASKED.system, False)


@pytest.mark.parametrize("kind", ["thinking", "redacted_thinking"])
def test_a_thought_bears_no_mark(model: LoopbackModel, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A turn that paused in thought is sent back as it came."""
    monkeypatch.setenv("AWS_REGION", "somewhere")
    thought = {"type": kind, "data": "x"}
    turns = (*ASKED.turns, Reply("", stop=Stop.PAUSE, kept=(thought,)))
    provider = bedrock(Access(model.url, "sk-test", stream=False))
    provider.complete(Request("executor", "m", ASKED.system, turns))
    assert model.requests[0]["messages"][-1]["content"] == [thought]


def test_what_another_protocol_kept_is_not_sent(model: LoopbackModel) -> None:
    """After a change of provider, an answer goes back as its words and calls."""
    foreign = ({"type": "reasoning", "id": "r"}, {"type": "message", "role": "assistant"})
    call = ToolCall("c", "read_file", {})
    turns = (*ASKED.turns, Reply("so", (call,), kept=foreign), Said("go on"))
    _provider(model).complete(Request("executor", "m", "You are the executor.", turns))
    blocks = model.requests[0]["messages"][1]["content"]
    assert [block["type"] for block in blocks] == ["text", "tool_use"]


def test_an_error_that_comes_with_200_is_named(model: LoopbackModel) -> None:
    """A document that is an error is one, whatever its status."""
    body = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}).encode()
    model.troubles = iter([Trouble(body=body)])
    with pytest.raises(ProviderFault, match="busy") as raised:
        _provider(model, stream=False).complete(ASKED)
    assert raised.value.said.status == 529


def test_no_key_is_sent_where_there_is_none(model: LoopbackModel) -> None:
    """A service without a key sees none, not even that of another service."""
    direct(Access(model.url)).complete(ASKED)
    assert not {"authorization", "x-api-key"} & set(model.headers[0])


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"])
def test_nothing_but_the_given_key_decides(
    model: LoopbackModel, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Another key in the environment, or a profile, is not used."""
    monkeypatch.setenv(name, "sk-other")
    _provider(model).complete(ASKED)
    assert model.headers[0]["authorization"] == "Bearer sk-test"
    assert "sk-other" not in json.dumps(model.headers)


@pytest.mark.parametrize("cloud", [bedrock, vertex, foundry])
def test_a_cloud_that_lacks_its_variables_is_refused(cloud: Any) -> None:
    """A region or a resource that is not set is an error of usage."""
    with pytest.raises(ModelUnknown, match="cannot be set up") as raised:
        cloud(Access(key="sk-test"))
    assert raised.value.hint


def test_a_cloud_that_lacks_its_package_says_which(
    model: LoopbackModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a token, a cloud needs a package that signs in, and the error names it."""
    monkeypatch.setenv("CLOUD_ML_REGION", "europe-west1")
    monkeypatch.setenv("ANTHROPIC_VERTEX_PROJECT_ID", "p")
    monkeypatch.setitem(__import__("sys").modules, "google.auth", None)
    with pytest.raises(ProviderError) as raised:
        vertex(Access(f"{model.url}/v1")).complete(ASKED)
    assert isinstance(raised.value, ModelUnknown)
    assert "pip install" in raised.value.hint
    assert model.requests == []
