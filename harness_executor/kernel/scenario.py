"""A scenario: what to do and what the answers must be, as data."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, ClassVar

from harness_executor.kernel import jsonpath, patterns
from harness_executor.kernel.acts import Act, Call, Probe, Program, Query
from harness_executor.kernel.canonical import STRICT, digest
from harness_executor.kernel.expectation import Expect, Op
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.lean import LATER, lean
from harness_executor.kernel.values import unknown_draws

NONZERO = "nonzero"


class Kind(StrEnum):
    """What a scenario is about."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    NEGATIVE = "negative"


class Effect(StrEnum):
    """What a step that looks like a write is said to change."""

    UNSAID = ""
    NONE = "none"


@frozen
class Step:
    """One of request, run, probe and query, what the answer must be, and what to remember of it."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    request: Call | None = None
    expect: Expect = field(default_factory=Expect)
    description: str = ""
    capture: Mapping[str, str] = field(default_factory=dict)
    """Name to a path of the JSON answer; used later as {{ name }}."""
    because: str = field(default="", metadata=LATER)
    """The words of the request or interface that ask for this, quoted, where `why` does not say it."""
    run: Program | None = field(default=None, metadata=LATER)
    probe: Probe | None = field(default=None, metadata=LATER)
    query: Query | None = field(default=None, metadata=LATER)
    effect: Effect = field(default=Effect.UNSAID, metadata=LATER)
    """none: a POST, PUT, PATCH or DELETE that changes nothing, such as a search or a login."""

    @property
    def acts(self) -> tuple[Act, ...]:
        """What it does; a usable step does one thing."""
        return tuple(act for act in (self.request, self.run, self.probe, self.query) if act is not None)

    @property
    def act(self) -> Act:
        """The one thing it does."""
        return self.acts[0]


@frozen
class Scenario:
    """A piece of behaviour a client can see."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    name: str
    why: str
    """The sentence of the request this comes from, quoted."""
    steps: tuple[Step, ...]
    kind: Kind = Kind.NEW
    let: Mapping[str, str] = field(default_factory=dict)
    """Values fixed for one run, such as title: "{{ random.word }}" (int, email, uuid, name, date, text …)."""

    @property
    def needs_server(self) -> bool:
        """Does any step send a request?"""
        return any(step.request is not None for step in self.steps)


def scenarios_digest(scenarios: tuple[Scenario, ...]) -> str:
    """The digest that freezes a list of scenarios."""
    return digest(lean(scenarios))


def problem_of(scenarios: tuple[Scenario, ...]) -> str:
    """What makes a list of scenarios unusable, or nothing."""
    names = [scenario.name for scenario in scenarios]
    if not scenarios:
        return "there are no scenarios"
    if len(set(names)) != len(names):
        return f"two scenarios are called {next(name for name in names if names.count(name) > 1)!r}"
    for scenario in scenarios:
        problem = next(_problems(scenario), "")
        if problem:
            return f"{scenario.name}: {problem}"
    return ""


def _problems(scenario: Scenario) -> Iterator[str]:
    if not scenario.steps:
        yield "it has no steps"
    yield from unknown_draws([scenario.let, lean(scenario.steps)])
    for step in scenario.steps:
        yield from _step_problems(step)
    if scenario.kind is Kind.NEGATIVE and not any(map(turns_away, scenario.steps)):
        yield (
            "a negative scenario needs a step that expects nothing but a 3xx or 4xx status, "
            "or an exit code other than 0"
        )


def turns_away(step: Step) -> bool:
    """Does a step expect nothing but a refusal?"""
    code, status = step.expect.exit_code, step.expect.status
    if code is not None:
        codes = code if isinstance(code, tuple) else (code,)
        return bool(codes) and 0 not in codes
    if isinstance(status, str) or status is None:
        return status in ("3xx", "4xx")
    wanted = (status,) if isinstance(status, int) else status
    return bool(wanted) and all(300 <= number < 500 for number in wanted)


def _step_problems(step: Step) -> Iterator[str]:
    if len(step.acts) != 1:
        yield f"a step has one of request, run, probe and query, not {len(step.acts)}"
        return
    match step.act:
        case Call() as call:
            yield from _call_problems(call)
            if step.expect.is_of_program:
                yield "a request has a status and a body; exit codes, streams and files are of programs"
        case Program(argv=()):
            yield "argv is empty"
        case Program() | Probe() | Query():
            if step.expect.is_of_server:
                yield "status, headers and body are of requests; a program has exit_code, stdout and stderr"
    yield from _expect_problems(step)


def _call_problems(call: Call) -> Iterator[str]:
    if not call.path.startswith(("/", "{{")):
        yield f"the path {call.path!r} does not start with /"
    bodies = (call.json is not None, call.body is not None, bool(call.form or call.files))
    if sum(bodies) > 1:
        yield "a request has one of json, body and form"


def _expect_problems(step: Step) -> Iterator[str]:
    expect = step.expect
    if isinstance(expect.status, str) and not re.fullmatch("[1-5]xx", expect.status):
        yield f"the status {expect.status!r} is not a number, a list of numbers, or a class such as 4xx"
    if isinstance(expect.exit_code, str) and expect.exit_code != NONZERO:
        yield f"the exit code {expect.exit_code!r} is not a number, a list of numbers, or {NONZERO!r}"
    for check in expect.json:
        if check.op is Op.SORTED and check.value not in (None, "asc", "desc"):
            yield f"sorted is asc or desc, not {check.value!r}"
    try:
        for path in (*(check.path for check in expect.json), *step.capture.values()):
            jsonpath.parse(path)
    except jsonpath.BadPath as error:
        yield str(error)
    yield from filter(None, map(patterns.problem, expect.patterns))
