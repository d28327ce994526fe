"""Carries out the calls of one reply: what only reads at the same time, what writes in its turn."""

import threading
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from harness_executor.kernel.canonical import STRICT
from harness_executor.providers.base import ToolCall
from harness_executor.subagents.calls import Toolbox, doing
from harness_executor.tools.base import Tool, ToolError


@dataclass(frozen=True)
class Name:
    """What a tool is given."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    name: str


def _calls(*names: str) -> tuple[ToolCall, ...]:
    """Calls such as `look a`, with ids by their place."""
    split = [name.split() for name in names]
    return tuple(ToolCall(str(at), tool, {"name": word}) for at, (tool, word) in enumerate(split))


def test_reading_calls_run_at_the_same_time() -> None:
    """Three calls that wait for each other all come back, in their order."""
    together = threading.Barrier(3, timeout=30)

    def look(ask: Name) -> str:
        together.wait()
        return ask.name

    box = Toolbox((Tool("look", "", Name, look, reads=True),))
    results = box.carry_out(_calls("look a", "look b", "look c"), lambda _: None)
    assert [(result.call_id, result.text) for result in results] == [("0", "a"), ("1", "b"), ("2", "c")]


def test_writing_calls_run_one_after_the_other_and_readers_keep_their_place() -> None:
    """What is read before a writing call does not see it, and what is read after it does."""
    written: list[str] = []
    here = threading.current_thread()

    def put(ask: Name) -> str:
        assert threading.current_thread() is here, "it may run next to another"
        written.append(ask.name)
        return "put"

    def look(_: Name) -> str:
        return ",".join(written)

    box = Toolbox((Tool("look", "", Name, look, reads=True), Tool("put", "", Name, put)))
    calls = _calls("look 1", "look 2", "put a", "put b", "look 3", "put c", "look 4")
    started: list[str] = []
    results = box.carry_out(calls, lambda call: started.append(call.id))
    assert [result.text for result in results] == ["", "", "put", "put", "a,b", "put", "a,b,c"]
    assert started == ["0", "1", "2", "3", "4", "5", "6"]


def test_an_error_of_one_call_leaves_the_others_alone() -> None:
    """Each call has its own result, good or bad."""

    def look(ask: Name) -> str:
        if ask.name == "bad":
            raise ToolError("no such thing")
        return ask.name

    box = Toolbox((Tool("look", "", Name, look, reads=True),))
    results = box.carry_out(_calls("look a", "look bad", "look c"), lambda _: None)
    assert [(result.text, result.is_error) for result in results] == [
        ("a", False),
        ("no such thing", True),
        ("c", False),
    ]


def test_a_call_that_could_not_be_read_is_not_carried_out() -> None:
    """Its problem is its result, and the tool is not used."""
    used: list[Name] = []

    def put(ask: Name) -> str:
        used.append(ask)
        return "done"

    call = ToolCall("1", "put", {}, problem="the arguments are not JSON: line 1 column 3")
    (result,) = Toolbox((Tool("put", "", Name, put),)).carry_out((call,), lambda _: None)
    assert result.is_error
    assert "the arguments are not JSON: line 1 column 3" in result.text
    assert not used


def test_an_unknown_tool_is_answered_with_those_there_are() -> None:
    """A model that makes up a tool is told what it has."""
    box = Toolbox((Tool("look", "", Name, lambda ask: ask.name, reads=True),))
    (result,) = box.carry_out(_calls("peek a"), lambda _: None)
    assert result.is_error
    assert result.text == "there is no tool peek; there are look"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"path": "a.py", "content": "x"}, "use a.py"),
        ({"command": "make\ntest"}, "use make"),
        ({"pattern": "x" * 200}, "use " + "x" * 80),
        ({"path": "", "command": "\n"}, "use"),
        ({"path": 5}, "use 5"),
        ({}, "use"),
    ],
    ids=str,
)
def test_a_call_is_told_in_one_short_line(arguments: dict[str, Any], line: str) -> None:
    """The tool, and the first line of what it is about."""
    assert doing(ToolCall("1", "use", arguments)) == line
