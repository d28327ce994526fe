"""What every provider does, whatever it speaks; made to be run against any service.

`RealContract` needs a fixture `subject` that gives a `Subject`, and holds for any model that answers at
all; `SchemaContract` for any that is held to a schema. `ScriptedContract` also needs to know what the
model says, so its subject is a `Scripted`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest

from harness_executor.errors import (
    ContextOverflow,
    KeyRefused,
    ProviderError,
    ProviderFault,
    QuotaSpent,
    RequestRefused,
)
from harness_executor.providers.base import (
    Provider,
    Reply,
    Request,
    Said,
    Stop,
    ToolResult,
    ToolSpec,
    Usage,
)
from harness_executor.providers.loopback import LoopbackModel, Trouble
from harness_executor.providers.script import Script

MARK = b',"cache_control":{"type":"ephemeral"}'
KEY = "sk-canary-0123456789abcdef"
SYSTEM = "You are the executor."
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}, "count": {"type": "integer"}},
    "required": ["colour", "count"],
    "additionalProperties": False,
}
TOOL = ToolSpec(
    "read_file",
    "Read a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True)
class Subject:
    """A provider to be tested, connected to a service."""

    provider: Callable[[], Provider]
    model: str = "model-x"
    max_tokens: int = 200

    def request(self, *turns: Said | Reply, **more: Any) -> Request:
        """A request to it."""
        return Request("executor", self.model, SYSTEM, turns, max_tokens=self.max_tokens, **more)


class RealContract:
    """What holds for any model."""

    def test_says_something(self, subject: Subject) -> None:
        """An answer has words, a reason to stop, and a count of what it used."""
        reply = subject.provider().complete(subject.request(Said("Say hello.")))
        assert reply.text.strip()
        assert reply.stop in (Stop.END, Stop.LENGTH)
        assert reply.usage is not None
        assert reply.usage.input_tokens > 0
        assert 0 < reply.usage.output_tokens <= subject.max_tokens

    def test_goes_on_with_a_conversation(self, subject: Subject) -> None:
        """An answer can be sent back, and a longer conversation uses more input."""
        provider = subject.provider()
        asked = subject.request(Said("Say hello."))
        first = provider.complete(asked)
        second = provider.complete(subject.request(*asked.turns, first, Said("Say it again, please.")))
        assert second.text.strip()
        assert first.usage is not None
        assert second.usage is not None
        assert second.usage.input_tokens > first.usage.input_tokens

    def test_stops_at_the_longest_answer(self, subject: Subject) -> None:
        """An answer that reaches its limit says so."""
        asked = subject.request(Said("Count to a thousand, in words."))
        reply = subject.provider().complete(
            Request(asked.role, asked.model, asked.system, asked.turns, max_tokens=8)
        )
        assert reply.stop is Stop.LENGTH
        assert reply.usage is not None
        assert 0 < reply.usage.output_tokens <= 8


class SchemaContract:
    """What holds where the service knows schemas."""

    def test_answers_with_json_of_a_schema(self, subject: Subject) -> None:
        """A request with a schema is answered by one JSON text that fits it."""
        said = Said("Name a colour, red or blue, and a count. Answer with JSON.")
        reply = subject.provider().complete(subject.request(said, schema=SCHEMA))
        answer = json.loads(reply.text)
        assert set(answer) == {"colour", "count"}
        assert answer["colour"] in ("red", "blue")
        assert isinstance(answer["count"], int)


@dataclass
class Scripted:
    """A provider connected to a loopback model whose words and troubles are chosen."""

    connect: Callable[[str], Provider]
    """A provider that speaks with the server at an address."""
    stream: bool
    started: list[LoopbackModel] = field(default_factory=list)

    def play(self, *replies: Mapping[str, Any], troubles: Iterable[Trouble | None] = ()) -> Provider:
        """A provider of a model that gives these replies."""
        model = LoopbackModel(Script({"executor": [{"replies": replies}]}), troubles)
        model.__enter__()
        self.started.append(model)
        return self.connect(model.url)

    @property
    def model(self) -> LoopbackModel:
        """The model that was started last."""
        return self.started[-1]

    def close(self) -> None:
        """End every model."""
        for model in self.started:
            model.__exit__()


def ask(*turns: Said | Reply, **more: Any) -> Request:
    """A request of the executor's."""
    return Request("executor", "model-x", SYSTEM, (Said("add a route"), *turns), **more)


def spoken(body: Mapping[str, Any]) -> list[Any]:
    """The conversation in a request, whatever its protocol."""
    found: list[Any] = body["messages"] if "messages" in body else body["input"]
    return found


def opening(body: bytes) -> bytes:
    """What the next request begins with, without the marks that a cloud has at the last block so far."""
    start, version, _ = body.partition(b'],"anthropic_version"')
    return start.replace(MARK, b"") if version else body.removesuffix(b"]}")


class ScriptedContract:
    """What holds where the model's words are known."""

    def test_gives_the_text(self, scripted: Scripted) -> None:
        """Text comes back as it was said, in every script of the world."""
        text = "été — 日本語 — \U0001f600\n\n```json\n{}\n```"
        reply = scripted.play({"text": text}).complete(ask())
        assert (reply.text, reply.calls, reply.stop) == (text, (), Stop.END)

    def test_gives_every_call_of_a_tool(self, scripted: Scripted) -> None:
        """Calls come back in their order, with their arguments and ids of their own."""
        arguments = [{"path": "a.py"}, {"path": "ü/日本.py", "deep": {"list": [1, None, True]}}, {}]
        calls = [{"name": "read_file", "arguments": one} for one in arguments]
        reply = scripted.play({"text": "looking", "calls": calls}).complete(ask(tools=(TOOL,)))
        assert (reply.text, reply.stop) == ("looking", Stop.TOOLS)
        assert [(call.name, call.arguments, call.problem) for call in reply.calls] == [
            ("read_file", one, "") for one in arguments
        ]
        assert len({call.id for call in reply.calls}) == 3

    @pytest.mark.parametrize("odd", ['{"torn": ', '["list"]', "31415", '{"a": 1, "a": 2}', "nonsense"])
    def test_arguments_that_cannot_be_read_are_a_problem(self, scripted: Scripted, odd: str) -> None:
        """A call with such arguments has none and says why, and the conversation can go on."""
        provider = scripted.play(
            {"calls": [{"name": "read_file", "arguments": odd}], "stop": "length"}, {"text": "sorry"}
        )
        reply = provider.complete(ask(tools=(TOOL,)))
        (call,) = reply.calls
        assert call.arguments == {}
        assert call.problem
        result = Said(results=(ToolResult(call.id, call.problem, is_error=True),))
        assert provider.complete(ask(reply, result, tools=(TOOL,))).text == "sorry"
        assert odd not in json.dumps(scripted.model.requests[1])

    def test_an_empty_answer_can_be_sent_back(self, scripted: Scripted) -> None:
        """An answer without words is an empty text, and is repeated as words."""
        provider = scripted.play({"text": ""}, {"text": "ok"})
        reply = provider.complete(ask())
        assert (reply.text, reply.calls, reply.stop) == ("", (), Stop.END)
        assert provider.complete(ask(reply, Said("go on"))).text == "ok"
        assert "(nothing)" in json.dumps(scripted.model.requests[1])

    @pytest.mark.parametrize("stop", [Stop.END, Stop.LENGTH, Stop.REFUSAL, Stop.OTHER])
    def test_tells_why_it_stopped(self, scripted: Scripted, stop: Stop) -> None:
        """Each reason to stop arrives as itself."""
        assert scripted.play({"text": "x", "stop": stop.value}).complete(ask()).stop is stop

    def test_counts_what_was_used(self, scripted: Scripted) -> None:
        """The input is all of the input, and the parts from and to the cache are known."""
        used = {"fresh": 100, "output": 7, "cache_read": 4000, "cache_write": 300}
        reply = scripted.play({"text": "x", "usage": used}).complete(ask())
        assert reply.usage == Usage(4400, 7, 4000, 300)

    def test_does_not_take_an_unknown_count_for_zero(self, scripted: Scripted) -> None:
        """A service that does not say what was used is not free."""
        assert scripted.play({"text": "x", "usage": None}).complete(ask()).usage is None

    def test_names_the_call(self, scripted: Scripted) -> None:
        """The id is the one the service gave the request."""
        assert scripted.play({"text": "x"}).complete(ask()).id == "req_1"

    def test_sends_back_what_it_was_sent(self, scripted: Scripted) -> None:
        """A request extends the one before it byte for byte, thinking and calls included."""
        call = {"name": "read_file", "arguments": {"path": "é.py"}}
        provider = scripted.play(
            {"text": "let me look", "thinking": "hm, ü", "calls": [call, call]},
            {"text": "and again", "calls": [call]},
            {"text": "done"},
        )
        turns: list[Said | Reply] = []
        for number in range(3):
            reply = provider.complete(ask(*turns, tools=(TOOL,)))
            results = tuple(ToolResult(one.id, f"result {number} ü") for one in reply.calls)
            turns += [reply, Said("" if results else "go on", results)]
        bodies = scripted.model.bodies
        for before, after in pairwise(bodies):
            assert opening(after).startswith(opening(before))
        conversations = [spoken(json.loads(body.replace(MARK, b""))) for body in bodies]
        assert [len(one) for one in conversations] == sorted(len(one) for one in conversations)
        assert conversations[2][: len(conversations[1])] == conversations[1]

    def test_half_a_letter_is_replaced(self, scripted: Scripted) -> None:
        """What no request can hold, in a text or in what was kept, does not keep it from being sent."""
        provider = scripted.play({"text": "so X", "calls": [{"name": "read_file"}]}, {"text": "ok"})
        whole = provider.complete(ask(tools=(TOOL,)))
        reply = replace(whole, kept=tuple(json.loads(json.dumps(whole.kept).replace("so X", "so \\ud83d"))))
        result = Said("cut \udc00", (ToolResult(reply.calls[0].id, "\ud800 it is"),))
        assert provider.complete(ask(reply, result, tools=(TOOL,))).text == "ok"
        said = json.dumps(spoken(scripted.model.requests[1]))
        assert all(words in said for words in ("so ?", "cut ?", "? it is"))
        assert len(scripted.model.requests) == 2

    def test_asks_for_a_schema(self, scripted: Scripted) -> None:
        """A schema is sent where the protocol has it, and the answer is its text."""
        reply = scripted.play({"text": '{"colour": "red", "count": 3}'}).complete(ask(schema=SCHEMA))
        assert json.loads(reply.text) == {"colour": "red", "count": 3}
        assert json.dumps(SCHEMA) in json.dumps(scripted.model.requests[0])

    @pytest.mark.parametrize("strict", [False, True])
    def test_holds_the_model_to_a_tool_only_when_told(self, scripted: Scripted, strict: bool) -> None:
        """A strict tool is sent as one, and no other is."""
        tool = ToolSpec(TOOL.name, TOOL.description, TOOL.schema, strict=strict)
        scripted.play({"text": "x"}).complete(ask(tools=(tool,)))
        sent = json.dumps(scripted.model.requests[0]["tools"])
        assert ('"strict": true' in sent) is strict
        assert TOOL.description in sent

    @pytest.mark.parametrize("status", [400, 422])
    def test_strict_tools_and_schemas_that_are_refused_are_left_out(
        self, scripted: Scripted, status: int
    ) -> None:
        """Each refusal that names a feature is a fault, once, and the next request is sent without it."""
        tool = ToolSpec(TOOL.name, TOOL.description, TOOL.schema, strict=True)
        words = ["tools.0.strict: Extra inputs are not permitted", "json_schema is not supported"]
        troubles = [Trouble(status, message=one) for one in (*words, *words)]
        provider = scripted.play({"text": "x"}, troubles=troubles)
        asked = ask(tools=(tool,), schema=SCHEMA)
        for kind in (ProviderFault, ProviderFault, RequestRefused, RequestRefused):
            with pytest.raises(kind) as raised:
                provider.complete(asked)
            assert (raised.value.said.status, raised.value.said.billed) == (status, False)
            assert raised.value.said.after == (0.0 if kind is ProviderFault else None)
        assert provider.complete(asked).text == "x"
        sent = [json.dumps(body) for body in scripted.model.requests]
        assert ['"strict": true' in one for one in sent] == [True, *[False] * 4]
        assert ["json_schema" in one for one in sent] == [True, True, *[False] * 3]

    @pytest.mark.parametrize(
        ("trouble", "kind"),
        [
            (Trouble(400), RequestRefused),
            (Trouble(400, message="prompt is too long: 210000 tokens > 200000 maximum"), ContextOverflow),
            (Trouble(400, error="context_length_exceeded"), ContextOverflow),
            (Trouble(401), KeyRefused),
            (Trouble(402), QuotaSpent),
            (Trouble(403), KeyRefused),
            (Trouble(404), RequestRefused),
            (Trouble(408), ProviderFault),
            (Trouble(409), ProviderFault),
            (Trouble(413), RequestRefused),
            (Trouble(422), RequestRefused),
            (Trouble(429), ProviderFault),
            (Trouble(429, error="insufficient_quota"), QuotaSpent),
            (Trouble(429, error="enforced_spend_limit_reached"), QuotaSpent),
            (Trouble(500), ProviderFault),
            (Trouble(502), ProviderFault),
            (Trouble(503), ProviderFault),
            (Trouble(504), ProviderFault),
            (Trouble(529), ProviderFault),
            (Trouble(529, headers={"x-should-retry": "false"}), RequestRefused),
            (Trouble(307, headers={"location": "/v2"}), RequestRefused),
        ],
        ids=lambda value: f"{value.status}-{value.error}" if isinstance(value, Trouble) else value.__name__,
    )
    def test_a_refusal_has_its_name(
        self, scripted: Scripted, trouble: Trouble, kind: type[ProviderError]
    ) -> None:
        """Each status is one kind of error, after one request, with words, a status and no key."""
        provider = scripted.play({"text": "x"}, troubles=[trouble])
        with pytest.raises(ProviderError) as raised:
            provider.complete(ask())
        assert type(raised.value) is kind
        assert raised.value.said.status == trouble.status
        assert raised.value.said.request_id == "req_1"
        assert not raised.value.said.billed
        assert f"answered {trouble.status} (request req_1)" in raised.value.message
        assert raised.value.hint
        assert len(scripted.model.requests) == 1
        assert provider.complete(ask()).text == "x"

    def test_no_message_shows_the_key(self, scripted: Scripted) -> None:
        """A service that repeats the key, and a page as long as a book, are not repeated."""
        words = f"<h1>Incorrect key: {KEY}, and sk-live-{'a' * 40}</h1>" + "x" * 9000
        page = Trouble(401, body=words.encode(), headers={"content-type": "text/html"})
        with pytest.raises(KeyRefused, match="Incorrect key") as raised:
            scripted.play({"text": "x"}, troubles=[page]).complete(ask())
        assert KEY not in str(raised.value) + raised.value.hint
        assert "aaaa" not in raised.value.message
        assert len(raised.value.message) <= 500

    @pytest.mark.parametrize(
        ("asked", "seconds"),
        [
            ({"retry-after": "5"}, 5.0),
            ({"retry-after": "300"}, 300.0),
            ({"retry-after": "1.5"}, 1.5),
            ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
            ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
            ({"retry-after": "-5"}, None),
            ({"retry-after": "nan"}, None),
            ({"retry-after": "inf"}, None),
            ({"retry-after": "1000000000"}, 1e9),
            ({"retry-after": "soon"}, None),
            ({"retry-after": ""}, None),
            ({}, None),
        ],
        ids=str,
    )
    def test_tells_how_long_the_service_asks_to_wait(
        self, scripted: Scripted, asked: dict[str, str], seconds: float | None
    ) -> None:
        """The wait is as it was asked for, and what makes no sense is none."""
        with pytest.raises(ProviderFault) as raised:
            scripted.play({"text": "x"}, troubles=[Trouble(429, headers=asked)]).complete(ask())
        assert raised.value.said.after == seconds

    @pytest.mark.parametrize(
        "trouble",
        [
            Trouble(body=b"<html>sign in</html>", headers={"content-type": "text/html"}),
            Trouble(body=b""),
            Trouble(body=b"{nope"),
            Trouble(body=b"null"),
            Trouble(body=b"[]"),
            Trouble(body=b"{}"),
            Trouble(body=b'"text"'),
            Trouble(body=b'{"content": "hello", "choices": 3, "output": {}}'),
            Trouble(body=b"\xff\xfe\x00", headers={"content-type": "text/event-stream"}),
            Trouble(body=b"data: {nope\n\n", headers={"content-type": "text/event-stream"}),
            Trouble(
                body=b'event: message_start\ndata: {"type": "message_start"}\n\n',
                headers={"content-type": "text/event-stream"},
            ),
            Trouble(headers={"content-encoding": "gzip"}),
        ],
        ids=lambda trouble: str(trouble.body or trouble.headers)[:40],
    )
    def test_what_is_no_answer_is_a_fault(self, scripted: Scripted, trouble: Trouble) -> None:
        """Whatever else comes with 200 is an error with words, and never a reply."""
        provider = scripted.play({"text": "x"}, troubles=[trouble])
        with pytest.raises(ProviderFault) as raised:
            provider.complete(ask())
        assert raised.value.said.billed
        assert raised.value.hint
        assert provider.complete(ask()).text == "x"

    @pytest.mark.parametrize("at", [-1, 0, 40])
    def test_a_lost_connection_is_a_fault(self, scripted: Scripted, at: int) -> None:
        """A connection that is reset, before or within the answer, may pass and may have cost something."""
        provider = scripted.play({"text": "x" * 500}, troubles=[Trouble(drop=at)])
        with pytest.raises(ProviderFault, match="was lost") as raised:
            provider.complete(ask())
        assert raised.value.said.billed
        assert provider.complete(ask()).text == "x" * 500

    def test_a_service_that_is_not_there_is_a_fault(self, scripted: Scripted) -> None:
        """A refused connection may pass, and has cost nothing."""
        provider = scripted.play({"text": "x"})
        scripted.model.__exit__()
        with pytest.raises(ProviderFault, match="could not be reached") as raised:
            provider.complete(ask())
        assert not raised.value.said.billed
        assert raised.value.said.status == 0

    def test_an_answer_in_small_pieces_is_the_same(self, scripted: Scripted) -> None:
        """Letters and events that are torn between two packets come out whole."""
        text = "日本語 \U0001f600 " * 20
        call = {"name": "read_file", "arguments": {"path": "日本"}}
        provider = scripted.play({"text": text, "calls": [call]}, troubles=[Trouble(piece=3)])
        reply = provider.complete(ask(tools=(TOOL,)))
        assert (reply.text, reply.calls[0].arguments) == (text, {"path": "日本"})
