"""A conversation of two hundred turns in a small window, over the wire."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from itertools import count, pairwise
from typing import Any

import pytest

from harness_executor.kernel.frozen import frozen
from harness_executor.providers import anthropic, openai
from harness_executor.providers.base import Provider
from harness_executor.providers.chat import ChatProvider
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.providers.responses import ResponsesProvider
from harness_executor.providers.script import Script
from harness_executor.providers.wire import Access
from harness_executor.subagents.jobs import Beat, Job, Message
from harness_executor.subagents.replies import WorkReply
from tests.subagents.conftest import SUCCESS, Office, call, submit
from tests.subagents.talking import conversation

TURNS = 200
WINDOW = 8_000
REQUEST = "add GET /todos/stats — “with the number of to-dos”\nand nothing else"
PLAN = 'Interface: GET /todos/stats → 200 {"total": int}'
PROMPT = f"# Request\n\n{REQUEST}\n\n# Plan\n\n{PLAN}\n\nMake the change, then submit your result."
CHECK = "test -e ok || { echo 'E  assert 404 == 200'; echo \"E  where 404 = get('/stats')\"; exit 1; }"
OPEN = "E  assert 404 == 200\nE  where 404 = get('/stats')"


@frozen
class Counted(Script):
    """A model that says one line after the other, whatever it still sees of the conversation."""

    numbers: Iterator[int] = field(default_factory=count)

    def reply(self, role: str, prompt: str, turn: int) -> Mapping[str, Any]:
        """The next line."""
        del role, prompt, turn
        return _line(next(self.numbers))


def _line(number: int) -> Mapping[str, Any]:
    if number == TURNS - 2:
        return call("write_file", path="ok", content="")
    if number in (12, 90, TURNS - 1):
        return submit()
    if number % 25 == 3:
        return call("write_file", path=f"made/{number}.py", content=f"number = {number}\n" * 40)
    looks = [{"name": "read_file", "arguments": {"path": f"{(number + at) % 40}.txt"}} for at in range(2)]
    return {"text": f"Looking at {number}.", "calls": looks}


def _texts(value: Any) -> Iterator[str]:
    """Every text in a request."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)


def _holds(request: Mapping[str, Any], text: str) -> bool:
    return any(text in part for part in _texts(dict(request)))


def _said(request: Mapping[str, Any]) -> list[Any]:
    return list(request.get("messages") or request["input"])


def _identities(value: Any, *keys: str) -> list[str]:
    """The ids of calls, or of results, wherever a protocol puts them."""
    if isinstance(value, list):
        return [found for part in value for found in _identities(part, *keys)]
    if not isinstance(value, dict):
        return []
    here = [
        str(value[key.split("/")[1]])
        for key in keys
        if value.get("type", value.get("role")) == key.split("/")[0]
    ]
    return here + [found for part in value.values() for found in _identities(part, *keys)]


CALLS = ("tool_use/id", "function_call/call_id", "function/id")
ANSWERS = ("tool_result/tool_use_id", "function_call_output/call_id", "tool/tool_call_id")


def _talk(office: Office, provider: Provider, heard: list[Message]) -> WorkReply:
    for number in range(40):
        lines = "".join(f"{number}: line {at} of a file that is rather long\n" for at in range(60))
        (office.tree / f"{number}.txt").write_text(lines)
    job: Job = office.job(prompt=PROMPT, check=CHECK, max_turns=TURNS, window=WINDOW, max_tokens=1_000)
    result = conversation(job, heard, provider).run()
    assert isinstance(result, WorkReply)
    return result


@pytest.fixture
def model() -> Iterator[LoopbackModel]:
    """A model that plays two hundred turns."""
    with LoopbackModel(Counted({})) as model:
        yield model


PROTOCOLS: dict[str, Callable[[str], Provider]] = {
    "messages": lambda url: anthropic.direct(Access(url, "test")),
    "responses": lambda url: ResponsesProvider(openai.direct(Access(f"{url}/v1", "test"))),
    "chat": lambda url: ChatProvider(openai.direct(Access(f"{url}/v1", "test"))),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_two_hundred_turns_in_a_small_window_never_lose_the_task(
    office: Office, model: LoopbackModel, protocol: str
) -> None:
    """Request, plan and open failure are word for word in every later request, and none is too long."""
    heard: list[Message] = []
    result = _talk(office, PROTOCOLS[protocol](model.url), heard)
    assert (result.status, result.summary) == (SUCCESS["status"], SUCCESS["summary"])
    assert len(model.requests) == TURNS
    made_room = [beat for beat in heard if isinstance(beat, Beat) and "making room" in beat.doing]
    assert len(made_room) >= 10
    _check_texts(model)
    _check_prefixes(model, {beat.turn for beat in made_room})
    _check_pairs(model)


def _check_texts(model: LoopbackModel) -> None:
    for number, request in enumerate(model.requests):
        assert _holds(request, PROMPT), f"request {number + 1} lost the task"
        assert number <= 12 or _holds(request, OPEN), f"request {number + 1} lost the open failure"
        assert len(json.dumps(request, ensure_ascii=False).encode()) / 3 < WINDOW
    assert _holds(model.requests[-1], "made/")


def _check_prefixes(model: LoopbackModel, made_room: set[int]) -> None:
    """Every request repeats the one before and adds to it, but where room was made."""
    for turn, (earlier, later) in enumerate(pairwise(map(_said, model.requests)), start=2):
        extends = later[: len(earlier)] == earlier
        assert extends or turn in made_room, f"turn {turn} altered what was sent"


def _check_pairs(model: LoopbackModel) -> None:
    """Every call is answered once and before the next, and nothing else is answered."""
    for request in model.requests:
        calls, answers = _identities(_said(request), *CALLS), _identities(_said(request), *ANSWERS)
        assert calls == answers
        assert len(set(calls)) == len(calls)
