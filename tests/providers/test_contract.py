"""One contract for every provider, against a loopback server of each wire protocol, streaming and not."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest

from harness_executor.errors import ContextOverflow, ProviderError, ProviderFault, QuotaSpent
from harness_executor.providers.base import Provider, Said, Stop
from harness_executor.providers.loopback import LoopbackModel, Trouble
from harness_executor.providers.loopback.chat import Chat
from harness_executor.providers.loopback.messages import Messages
from harness_executor.providers.loopback.protocol import Answer, Used, WireProtocol
from harness_executor.providers.loopback.responses import Responses
from harness_executor.providers.opening import opened
from harness_executor.providers.registry import Reached
from harness_executor.providers.script import Script
from tests.providers.contract import (
    KEY,
    TOOL,
    RealContract,
    SchemaContract,
    Scripted,
    ScriptedContract,
    Subject,
    ask,
)

VARIABLES = {
    "AWS_REGION": "eu-north-1",
    "CLOUD_ML_REGION": "europe-west1",
    "ANTHROPIC_VERTEX_PROJECT_ID": "project",
}


@dataclass(frozen=True)
class Kind:
    """A provider, and how it finds the loopback server."""

    name: str
    api: str
    path: str
    stream: bool
    is_named: bool = False

    def connect(self, url: str) -> Provider:
        """The provider, connected."""
        reached = Reached(f"{url}{self.path}", KEY, self.stream, self.is_named, version="2026-10-01")
        return opened(self.api, reached)

    def __str__(self) -> str:
        return f"{self.name}-{'streaming' if self.stream else 'whole'}"


WAYS = [
    ("anthropic", "messages", "", False),
    ("named-messages", "messages", "", True),
    ("bedrock", "bedrock", "", False),
    ("vertex", "vertex", "/v1", False),
    ("foundry", "foundry", "/anthropic/", False),
    ("openai", "responses", "/v1", False),
    ("named-responses", "responses", "/v1", True),
    ("chat", "chat", "/v1", True),
    ("azure", "azure", "", False),
]
KINDS = [
    Kind(name, api, path, stream, is_named)
    for name, api, path, is_named in WAYS
    for stream in (True, False)
    if api != "bedrock" or not stream or find_spec("botocore")
]
SPOKEN: dict[str, WireProtocol] = {
    **dict.fromkeys(("messages", "vertex", "foundry"), Messages()),
    "responses": Responses(),
    **dict.fromkeys(("chat", "azure"), Chat()),
}
CLAUDE = [kind for kind in KINDS if kind.api in ("messages", "bedrock", "vertex", "foundry")]
STREAMING = [kind for kind in KINDS if kind.stream]
LINES = [kind for kind in STREAMING if kind.api in SPOKEN]


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the clouds' clients want to be told."""
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def scripted(request: pytest.FixtureRequest) -> Iterator[Scripted]:
    """Each provider, against a model whose words are known."""
    kind: Kind = request.param
    found = Scripted(kind.connect, kind.stream)
    yield found
    found.close()


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """Each provider, against a model that answers as a real one would."""
    kind: Kind = request.param
    replies = {
        "colour": [{"text": '{"colour": "blue", "count": 2}'}],
        "thousand": [{"text": "one two three", "stop": "length", "usage": {"fresh": 9, "output": 8}}],
        "": [{"text": "Hello."}, {"text": "Hello again."}],
    }
    lines = [{"when": when, "replies": said} for when, said in replies.items()]
    with LoopbackModel(Script({"executor": lines})) as model:
        yield Subject(lambda: kind.connect(model.url))


@pytest.mark.parametrize("subject", KINDS, indirect=True, ids=str)
class TestReal(RealContract, SchemaContract):
    """The part that holds for any model, here against the loopback one."""


@pytest.mark.parametrize("scripted", KINDS, indirect=True, ids=str)
class TestScripted(ScriptedContract):
    """The part that needs to know what is said."""


@pytest.mark.parametrize("scripted", STREAMING, indirect=True, ids=str)
class TestStreams:
    """What can happen only to a stream."""

    def test_no_closing_event_no_answer(self, scripted: Scripted) -> None:
        """A stream that ends cleanly without its closing event is a fault, whatever it said before."""
        call = {"name": "read_file", "arguments": {"path": "a"}}
        replies: list[dict[str, Any]] = [{"text": "all is done"}, {"text": "", "calls": [call]}]
        for reply in replies:
            provider = scripted.play(reply, troubles=[Trouble(ends=False)])
            with pytest.raises(ProviderFault, match="ended before") as raised:
                provider.complete(ask(tools=(TOOL,)))
            assert raised.value.said.billed

    @pytest.mark.parametrize(
        ("error", "status"), [("overloaded_error", 529), ("rate_limit_exceeded", 429), ("anything_new", 200)]
    )
    def test_an_error_in_the_middle_is_a_fault(self, scripted: Scripted, error: str, status: int) -> None:
        """An error event after 200 ends the call, and the words before it are no answer."""
        provider = scripted.play({"text": "half of it"}, troubles=[Trouble(fails=error, message="too busy")])
        with pytest.raises(ProviderFault, match=r"broke off its answer .*too busy") as raised:
            provider.complete(ask())
        assert raised.value.said.billed
        assert raised.value.said.status == status
        assert "half of it" not in raised.value.message

    @pytest.mark.parametrize("error", ["invalid_request_error", "insufficient_quota"])
    def test_an_error_that_will_not_pass_is_no_fault(self, scripted: Scripted, error: str) -> None:
        """An error event is named by its type, and may have cost something."""
        provider = scripted.play({"text": "half"}, troubles=[Trouble(fails=error)])
        with pytest.raises(ProviderError) as raised:
            provider.complete(ask())
        assert not isinstance(raised.value, ProviderFault)
        assert raised.value.said.billed

    @pytest.mark.parametrize(
        ("error", "kind"), [("context_length_exceeded", ContextOverflow), ("402", QuotaSpent)]
    )
    def test_a_full_window_and_an_empty_account_are_told_in_the_middle_too(
        self, scripted: Scripted, error: str, kind: type[ProviderError]
    ) -> None:
        """Neither is tried again as it stands."""
        provider = scripted.play({"text": "half"}, troubles=[Trouble(fails=error)])
        with pytest.raises(kind):
            provider.complete(ask())

    def test_a_stream_without_an_event_is_a_fault(self, scripted: Scripted) -> None:
        """An empty stream is no empty answer."""
        provider = scripted.play({"text": "x"}, troubles=[Trouble(frames=())])
        with pytest.raises(ProviderFault):
            provider.complete(ask())


@pytest.mark.parametrize("scripted", CLAUDE, indirect=True, ids=str)
class TestClaude:
    """What only the Messages protocol has."""

    @pytest.mark.parametrize("stop", [Stop.PAUSE, Stop.OVERFLOW])
    def test_has_more_reasons_to_stop(self, scripted: Scripted, stop: Stop) -> None:
        """A pause and a full window are told apart from an end."""
        assert scripted.play({"text": "x", "stop": stop.value}).complete(ask()).stop is stop

    def test_thinking_is_sent_back_with_its_signature(self, scripted: Scripted) -> None:
        """A block of thinking is not part of the text, and returns as it came."""
        provider = scripted.play({"text": "so", "thinking": "hm"}, {"text": "ok"})
        reply = provider.complete(ask())
        provider.complete(ask(reply, Said("go on")))
        block = {"type": "thinking", "thinking": "hm", "signature": "signed-1"}
        assert reply.text == "so"
        assert scripted.model.requests[1]["messages"][1]["content"][0] == block


@pytest.mark.parametrize("kind", LINES, ids=str)
def test_comments_and_other_line_ends_are_no_trouble(kind: Kind) -> None:
    """Comments between events and CRLF line ends are read as the standard says."""
    speaks = SPOKEN[kind.api]
    events = speaks.events(Answer({"text": "été, all of it"}, 1, "m", Used(5, 5)))
    frames = tuple(b": still here\r\n\r\n" + event.replace(b"\n", b"\r\n") for event in events)
    script = Script({"executor": [{"replies": [{"text": "x"}]}]})
    with LoopbackModel(script, [Trouble(frames=frames, piece=7)]) as model:
        assert kind.connect(model.url).complete(ask()).text == "été, all of it"


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_key_is_sent_once_and_nothing_else_of_us(kind: Kind) -> None:
    """The key stands in the header of the protocol; no trace context leaves the machine."""
    with LoopbackModel(Script({"executor": [{"replies": [{"text": "x"}]}]})) as model:
        kind.connect(model.url).complete(ask())
    (headers,) = model.headers
    assert KEY in json.dumps(headers)
    assert KEY not in model.bodies[0].decode()
    assert "traceparent" not in headers
    assert headers["accept-encoding"] == "identity"
