"""A hundred thousand damaged results: none is accepted wrongly, and none breaks the reader."""

import copy
import json
import random
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import pytest

from harness_executor.subagents.jobs import Answering
from harness_executor.subagents.replies import Result, Unacceptable, from_arguments, from_text
from tests.subagents.strict_reader import Json, Wrong, blocks, fits, must

ROUNDS = 25_000
"""For each of four seeds."""

_STEP = {
    "request": {"path": "/stats", "method": "POST", "headers": {"a": "b"}, "json": {"n": 1}},
    "expect": {
        "status": 200,
        "json": [{"path": "$.a", "op": "equals", "value": 1.5}],
        "body_matches": ["a+"],
    },
    "capture": {"id": "$.id"},
}
_READ = {"request": {"path": "/a"}, "expect": {"status": 200}}
WHOLE: dict[Answering, Mapping[str, Any]] = {
    Answering.WORK: {
        "status": "success",
        "summary": "added the route",
        "files_changed": ["app.py"],
        "validation_result": {"passed": True, "command": "make"},
        "blockers": [],
    },
    Answering.PLAN: {
        "summary": "s",
        "contract": "c",
        "phases": [{"name": "n", "objective": "o", "files": ["a"]}],
    },
    Answering.REVIEW: {
        "summary": "s",
        "findings": [{"severity": "low", "where": "a:1", "issue": "i", "fix": "f"}],
    },
    Answering.SCENARIOS: {
        "scenarios": [
            {"name": "one", "why": "w", "steps": [_STEP, _READ], "let": {"x": "{{ random.word }}"}},
            {"name": "no", "why": "w", "kind": "negative", "steps": [{**_STEP, "expect": {"status": "4xx"}}]},
        ]
    },
    Answering.ADDITIONS: {"scenarios": [{"name": "one", "why": "w", "steps": [_READ]}]},
    Answering.RULINGS: {
        "rulings": [
            {"scenario": "one", "quote": "w", "reason": "it is asked for"},
            {
                "scenario": "two",
                "quote": "w",
                "reason": "nobody said so",
                "amended": {"name": "two", "why": "w", "steps": [_READ]},
            },
        ]
    },
}
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    200,
    200.0,
    1.5,
    10**60,
    10**500,
    float("nan"),
    float("inf"),
    "",
    "success",
    "SUCCESS",
    "4xx",
    "9xx",
    "/a",
    "\0",
    "\ud800",
    "\uff53uccess",
    [],
    {},
    [1],
    ["a"],
    {"a": "b"},
    {"passed": 1},
)
PIECES = (
    "```",
    "````",
    "```json\n",
    "```\n",
    "\n",
    "\r\n",
    '"',
    "'",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\\",
    "\\u0000",
    "\\ud800",
    "\\ud83d\\ude00",
    "\ufeff",
    "\u00a0",
    "\u200b",
    "\x1b",
    "\0",
    "NaN",
    "-Infinity",
    "1e999",
    "1" * 500,
    "[" * 150,
    '{"a":' * 120,
    "// no\n",
    "/* */",
    "None",
    "true",
    "null",
    "01",
    "+1",
    ".5",
    "~~~",
    '"status": "failed",',
    '"summary": 1,',
    '"extra": true,',
    "…",
    "\u201c",
    "\ud800",
    "\U0001f600",
)
AROUND = (
    "{}",
    "Here it is:\n{}\nDone.",
    "{}\n{}",
    "> {}",
    "```text\nno\n```\n{}",
    "<thinking>\n{}",
    "{}\n```\n{}",
)
FENCES = (
    "```json\n{}\n```",
    "```\n{}\n```",
    "````json\n{}\n````",
    "{}",
    "```JSON\n{}\n```",
    "```json {}\n```",
    "~~~\n{}\n~~~",
    " ```json\n{}\n```",
    "```json\n{}",
    "```json\r\n{}\r\n```\r",
)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every object and list in a value, with each of its keys."""
    pairs = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [(value, key) for key in pairs] + [place for key in pairs for place in _places(value[key])]


def _other_value(draw: random.Random, result: Any) -> None:
    holder, key = draw.choice(_places(result))
    holder[key] = copy.deepcopy(draw.choice(VALUES))


def _lost_key(draw: random.Random, result: Any) -> None:
    holder, key = draw.choice(_places(result))
    del holder[key]


def _new_key(draw: random.Random, result: Any) -> None:
    objects = [result, *(holder for holder, _ in _places(result) if isinstance(holder, dict))]
    draw.choice(objects)[draw.choice(("status", "summary", "ok", "Status", "because", "files", ""))] = "x"


def _wrapped(draw: random.Random, result: Any) -> None:
    holder, key = draw.choice(_places(result))
    holder[key] = draw.choice((lambda it: [it], lambda it: {"value": it}, json.dumps, str))(
        _plain(holder[key])
    )


def _swapped(draw: random.Random, result: Any) -> None:
    (one, key), (other, name) = draw.choice(_places(result)), draw.choice(_places(result))
    one[key] = copy.deepcopy(other[name])


def _plain(value: Any) -> Any:
    return copy.deepcopy(value)


CHANGES: tuple[Callable[[random.Random, Any], None], ...] = (
    _other_value,
    _lost_key,
    _new_key,
    _wrapped,
    _swapped,
)


def _changed(draw: random.Random) -> tuple[Answering, Any]:
    """A result of which some values are not what they were."""
    answering = draw.choice(tuple(Answering))
    result = copy.deepcopy(dict(WHOLE[answering]))
    for _ in range(draw.choice((0, 1, 1, 1, 2))):
        if result:
            draw.choice(CHANGES)(draw, result)
    return answering, result


def _damaged(draw: random.Random) -> tuple[Answering, str]:
    """A message with a result, of which some letters are not what they were."""
    answering, result = _changed(draw) if draw.random() < 0.3 else (draw.choice(tuple(Answering)), None)
    body = json.dumps(
        result or WHOLE[answering], ensure_ascii=draw.random() < 0.5, indent=draw.choice((None, 1))
    )
    message = draw.choice(FENCES[:4] if draw.random() < 0.8 else FENCES).replace("{}", body)
    message = draw.choice(AROUND if draw.random() < 0.3 else AROUND[:2]).replace("{}", message)
    for _ in range(draw.choice((0, 1, 1, 1, 2, 3))):
        message = _bent(draw, message)
    return draw.choice(tuple(Answering)) if draw.random() < 0.03 else answering, message


def _bent(draw: random.Random, message: str) -> str:
    at, length = draw.randrange(len(message) + 1), draw.randrange(1, 8)
    match draw.randrange(6):
        case 0:
            return message[:at]
        case 1:
            return message[:at] + message[at + length :]
        case 2:
            return message[:at] + draw.choice(PIECES) + message[at:]
        case 3:
            return message[:at] + draw.choice(PIECES) + message[at + length :]
        case 4:
            return (
                message[:at] + chr(ord(message[at - 1]) ^ (1 << draw.randrange(7))) + message[at + 1 :]
                if at
                else message
            )
    return message[:at] + message[at : at + 40] + message[at:]


def _same(result: Result, value: Any) -> bool:
    """Does the result say what was sent, and nothing else but defaults?"""
    return _within(value, json.loads(json.dumps(asdict(result))))


def _within(sent: Any, read: Any) -> bool:
    if isinstance(sent, dict) and isinstance(read, dict):
        return all(key in read and _within(value, read[key]) for key, value in sent.items())
    if isinstance(sent, list) and isinstance(read, list):
        return len(sent) == len(read) and all(map(_within, sent, read))
    return type(sent) is type(read) and bool(sent == read)


def _in_message(answering: Answering, message: str) -> Any:
    """What the second reader makes of a message; raises Wrong."""
    found = blocks(message)
    must(len(found) == 1)
    value = Json(found[0]).whole()
    fits(answering, value)
    return value


def _in_arguments(answering: Answering, arguments: Any) -> Any:
    """What the second reader makes of a submission; raises Wrong."""
    value = Json(json.dumps(arguments)).whole()
    fits(answering, value)
    return value


def _outcome(answering: Answering, given: Any) -> str:
    """How both readers end, which must be the same; of scenarios the first may refuse more."""
    read = from_text if isinstance(given, str) else from_arguments
    second = _in_message if isinstance(given, str) else _in_arguments
    try:
        result: Result | None = read(answering, given)
    except Unacceptable:
        result = None
    try:
        value = second(answering, given)
    except Wrong:
        assert result is None, f"accepted wrongly: {given!r}"
        return "refused"
    if result is None:
        written = (Answering.SCENARIOS, Answering.RULINGS, Answering.ADDITIONS)
        assert answering in written, f"refused wrongly: {given!r}"
        return "refused"
    assert _same(result, value), f"read wrongly: {given!r}"
    return "accepted"


def _counted(draw: random.Random, drawn: Callable[[random.Random], tuple[Answering, Any]]) -> Counter[str]:
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        return Counter(_outcome(*drawn(draw)) for _ in range(ROUNDS))


@pytest.mark.parametrize("seed", range(3))
def test_no_damaged_message_is_accepted_wrongly(seed: int) -> None:
    """What is accepted has one fenced block, which a second reader reads to the same result."""
    seen = _counted(random.Random(seed), _damaged)
    assert seen["accepted"] > ROUNDS / 20
    assert seen["refused"] > ROUNDS / 3


def test_no_damaged_submission_is_accepted_wrongly() -> None:
    """What is accepted through the tool is a value that a second reader takes for a result."""
    seen = _counted(random.Random(3), _changed)
    assert seen["accepted"] > ROUNDS / 20
    assert seen["refused"] > ROUNDS / 3


@pytest.mark.parametrize("answering", Answering)
def test_both_readers_accept_what_is_whole(answering: Answering) -> None:
    """The second reader is not merely one that refuses everything."""
    assert _outcome(answering, f"```json\n{json.dumps(WHOLE[answering])}\n```") == "accepted"
    assert _outcome(answering, dict(WHOLE[answering])) == "accepted"
