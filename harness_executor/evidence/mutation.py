"""Would a scenario notice a broken answer? Break the recorded answers and see."""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from harness_executor.kernel.expect import Answer, captured, check
from harness_executor.kernel.report import ScenarioRun, StepRun

STATUS = "another status"
EMPTY = "an empty body"
KEY = "a key dropped"
VALUE = "a value changed"
TEXT = "another text"
LOCATION = "another location"

_MOST_PLACES = 60


@dataclass(frozen=True)
class Strength:
    """How many broken answers a scenario notices, and which classes it never does."""

    mutants: int
    killed: int
    survived: tuple[str, ...]


def strength_of(run: ScenarioRun) -> Strength:
    """Break each answer of a passing run in every way, one at a time."""
    noticed: dict[str, bool] = {}
    mutants = killed = 0
    for step in run.steps:
        by_class: dict[str, list[bool]] = {}
        for name, answer in _mutants(step.exchange.answer):
            by_class.setdefault(name, []).append(_notices(step, answer))
        for name, results in by_class.items():
            mutants, killed = mutants + len(results), killed + sum(results)
            caught = any(results) if name in (KEY, VALUE) else all(results)
            noticed[name] = noticed.get(name, False) or caught
    return Strength(mutants, killed, tuple(name for name, caught in noticed.items() if not caught))


def _notices(step: StepRun, answer: Answer) -> bool:
    if not all(assertion.passed for assertion in check(step.expect, answer)):
        return True
    try:
        for path in step.capture.values():
            captured(path, answer)
    except LookupError:
        return True
    return False


def _mutants(answer: Answer | None) -> Iterator[tuple[str, Answer]]:
    if answer is None:
        return
    for status in (500, 404, 200):
        if status // 100 != answer.status // 100:
            yield STATUS, replace(answer, status=status)
    if 300 <= answer.status < 400 and answer.header("location"):
        elsewhere = [
            (name, "elsewhere" if name.lower() == "location" else value) for name, value in answer.headers
        ]
        yield LOCATION, replace(answer, headers=tuple(elsewhere))
    if not 200 <= answer.status < 300 or not answer.body.strip():
        return
    try:
        value = answer.json()
    except ValueError:
        yield EMPTY, replace(answer, body="")
        yield TEXT, replace(answer, body=answer.body.swapcase()[::-1])
        return
    yield EMPTY, replace(answer, body="")
    if isinstance(value, dict | list) and value:
        yield EMPTY, replace(answer, body=json.dumps(type(value)()))
    for name, broken in _broken(value):
        yield name, replace(answer, body=json.dumps(broken))


def _broken(value: Any) -> Iterator[tuple[str, Any]]:
    for place in list(_places(value))[:_MOST_PLACES]:
        if isinstance(place[-1], str):
            without = deepcopy(value)
            del _container(without, place)[place[-1]]
            yield KEY, without
        inner = _container(value, place)[place[-1]]
        if not isinstance(inner, dict | list):
            other = deepcopy(value)
            _container(other, place)[place[-1]] = _another(inner)
            yield VALUE, other
    if not isinstance(value, dict | list):
        yield VALUE, _another(value)


def _places(value: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*above, key)
        yield from _places(inner, (*above, key))


def _container(value: Any, place: tuple[str | int, ...]) -> Any:
    for part in place[:-1]:
        value = value[part]
    return value


def _another(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
    return "something"
