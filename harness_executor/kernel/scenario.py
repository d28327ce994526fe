"""A scenario: requests to send and what their answers must be, as data."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from harness_executor.kernel import jsonpath
from harness_executor.kernel.canonical import STRICT, digest


class Kind(StrEnum):
    """What a scenario is about."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    NEGATIVE = "negative"


class Op(StrEnum):
    """How a value found in an answer is compared."""

    EQUALS = "equals"
    NOT_EQUALS = "not_equals"
    EXISTS = "exists"
    ABSENT = "absent"
    TYPE = "type"
    LENGTH = "length"
    CONTAINS = "contains"
    MATCHES = "matches"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"


@dataclass(frozen=True)
class Call:
    """One HTTP request."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    path: str
    """Path and query, starting with /. May hold {{ name }}."""
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    """A JSON body; content-type is set."""
    body: str | None = None
    """A raw body, instead of json."""


@dataclass(frozen=True)
class JsonCheck:
    """A comparison with what stands at a path of the JSON answer."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    path: str
    """Such as $.items[0].id or $.items[*].name."""
    op: Op = Op.EQUALS
    value: Any = None
    """What to compare with; type: string number integer boolean array object null."""


@dataclass(frozen=True)
class Expect:
    """What an answer must be."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    status: int | tuple[int, ...] | str
    """Such as 200, [200, 201] or "4xx"."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header name to a text its value must contain."""
    json: tuple[JsonCheck, ...] = ()
    body_contains: tuple[str, ...] = ()
    body_not_contains: tuple[str, ...] = ()
    body_matches: tuple[str, ...] = ()
    """Regular expressions, searched for."""


@dataclass(frozen=True)
class Step:
    """One request, what its answer must be, and what to remember of it."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    request: Call
    expect: Expect
    description: str = ""
    capture: Mapping[str, str] = field(default_factory=dict)
    """Name to a path of the JSON answer; used later as {{ name }}."""
    because: str = ""
    """The words of the request or interface that ask for this, quoted, where `why` does not say it."""


@dataclass(frozen=True)
class Scenario:
    """A piece of behaviour a client can see."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    name: str
    why: str
    """The sentence of the request this comes from, quoted."""
    steps: tuple[Step, ...]
    kind: Kind = Kind.NEW
    let: Mapping[str, str] = field(default_factory=dict)
    """Values fixed for one run, such as title: "{{ random.word }}" (also int, email, uuid)."""


def scenarios_digest(scenarios: tuple[Scenario, ...]) -> str:
    """The digest that freezes a list of scenarios."""
    return digest([_plain(scenario) for scenario in scenarios])


def _plain(scenario: Scenario) -> dict[str, Any]:
    """The scenario as data; what a step leaves unsaid is left out, so that older digests stay true."""
    plain = asdict(scenario)
    for step in plain["steps"]:
        if not step["because"]:
            del step["because"]
    return plain


def problem_of(scenarios: tuple[Scenario, ...]) -> str:
    """What makes a list of scenarios unusable, or nothing."""
    names = [scenario.name for scenario in scenarios]
    if not scenarios:
        return "there are no scenarios"
    if len(set(names)) != len(names):
        return f"two scenarios are called {next(name for name in names if names.count(name) > 1)!r}"
    for scenario in scenarios:
        problems = (
            ["it has no steps"] if not scenario.steps else [_step_problem(step) for step in scenario.steps]
        )
        problem = next(filter(None, (*problems, _kind_problem(scenario))), "")
        if problem:
            return f"{scenario.name}: {problem}"
    return ""


def _kind_problem(scenario: Scenario) -> str:
    if scenario.kind is Kind.NEGATIVE and not any(_turns_away(step.expect.status) for step in scenario.steps):
        return "a negative scenario needs a step that expects nothing but a 3xx or 4xx status"
    return ""


def _turns_away(status: int | tuple[int, ...] | str) -> bool:
    if isinstance(status, str):
        return status in ("3xx", "4xx")
    wanted = (status,) if isinstance(status, int) else status
    return bool(wanted) and all(300 <= number < 500 for number in wanted)


def _step_problem(step: Step) -> str:
    if not step.request.path.startswith(("/", "{{")):
        return f"the path {step.request.path!r} does not start with /"
    if step.request.json is not None and step.request.body is not None:
        return "a request has json or body, not both"
    if isinstance(step.expect.status, str) and not re.fullmatch("[1-5]xx", step.expect.status):
        return f"the status {step.expect.status!r} is not a number, a list of numbers, or a class such as 4xx"
    try:
        for path in (*(check.path for check in step.expect.json), *step.capture.values()):
            jsonpath.parse(path)
        for pattern in (*step.expect.body_matches, *_patterns(step.expect.json)):
            re.compile(pattern)
    except (jsonpath.BadPath, re.error, OverflowError, RecursionError) as error:
        return str(error)
    return ""


def _patterns(checks: tuple[JsonCheck, ...]) -> list[str]:
    return [str(check.value) for check in checks if check.op is Op.MATCHES]
