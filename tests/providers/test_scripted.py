"""A model that says what it is told: the twin of every provider, for tests."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import ModelUnknown, ProviderError
from harness_executor.providers.base import Provider, Reply, Request, Said, Stop, ToolCall
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.providers.registry import connect
from harness_executor.providers.script import Script
from harness_executor.providers.scripted import ScriptedProvider, load

LOOK = {"text": "looking", "calls": [{"name": "read_file", "arguments": {"path": "a.py"}}]}


def _ask(*turns: Said | Reply) -> Request:
    return Request("executor", "m", "You are the executor.", (Said("add a route"), *turns))


def _scripted(*replies: dict[str, Any]) -> ScriptedProvider:
    return ScriptedProvider(Script({"executor": [{"replies": replies}]}))


def test_says_what_stands_in_its_script() -> None:
    """Text, calls and stop are those of the script."""
    reply = _scripted(LOOK).complete(_ask())
    assert reply.text == "looking"
    assert reply.calls == (ToolCall("call-0-0", "read_file", {"path": "a.py"}),)
    assert reply.stop is Stop.TOOLS


@pytest.mark.parametrize("stop", list(Stop))
def test_a_script_may_say_why_it_stopped(stop: Stop) -> None:
    """The stop of a reply can be written down."""
    assert _scripted({"text": "x", "stop": stop.value}).complete(_ask()).stop is stop


def test_depends_only_on_the_conversation() -> None:
    """The same conversation gets the same reply, however often it is asked."""
    provider = _scripted({"text": "one"}, {"text": "two"})
    again = _ask(Reply("one"), Said("go on"))
    assert [provider.complete(again).text for _ in range(3)] == ["two", "two", "two"]


def test_a_script_that_has_ended_is_an_error() -> None:
    """A reply that is not there is not made up."""
    with pytest.raises(ProviderError, match="has 1 replies, reply 2 was asked for"):
        _scripted(LOOK).complete(_ask(Reply("looking"), Said("go on")))


@pytest.mark.parametrize("wire", [False, True], ids=["in memory", "over HTTP"])
def test_both_twins_play_a_script_alike(monkeypatch: pytest.MonkeyPatch, wire: bool) -> None:
    """The scripted provider and the real SDK against the loopback model give the same conversation."""
    script = Script({"executor": [{"replies": [LOOK, {"text": "half", "stop": "length"}, {"text": "done"}]}]})
    with LoopbackModel(script) as model:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", model.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
        provider: Provider = connect("anthropic:m") if wire else ScriptedProvider(script)
        turns: list[Said | Reply] = []
        for _ in range(3):
            turns += [provider.complete(_ask(*turns)), Said("go on")]
        with pytest.raises(ProviderError, match="has 3 replies, reply 4 was asked for"):
            provider.complete(_ask(*turns))
    replies = [turn for turn in turns if isinstance(turn, Reply)]
    assert [reply.text for reply in replies] == ["looking", "half", "done"]
    assert [reply.stop for reply in replies] == [Stop.TOOLS, Stop.LENGTH, Stop.END]
    assert [(call.name, call.arguments) for call in replies[0].calls] == [("read_file", {"path": "a.py"})]
    assert all(reply.usage and reply.usage.output_tokens > 0 for reply in replies)


def test_is_read_from_a_file(tmp_path: Path) -> None:
    """A JSON file of roles and conversations is a model."""
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"executor": [{"replies": [{"text": "été"}]}]}))
    assert load(path).complete(_ask()).text == "été"


@pytest.mark.parametrize(
    "content",
    [None, b"", b"{", b'{"executor": [], "executor": []}', b"[]", b"null", b"\xff\xfe", b"[" * 200_000],
    ids=["absent", "empty", "torn", "twice", "list", "null", "bytes", "deep"],
)
def test_a_file_that_is_no_script_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """A script that cannot be read in one way only is an error with a hint."""
    path = tmp_path / "script.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelUnknown, match=r"the script .*script\.json") as error:
        load(path)
    assert error.value.hint
