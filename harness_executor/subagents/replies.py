"""Results of subagents: read strictly, never repaired, never guessed."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from harness_executor.errors import ShapeError
from harness_executor.kernel.amending import Dispute, Ruling, Shortfall, problem_of_rulings
from harness_executor.kernel.canonical import STRICT, Ambiguous, canonical, parse
from harness_executor.kernel.effects import ends_in_a_write
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.scenario import Scenario, problem_of
from harness_executor.shapes import read
from harness_executor.subagents.jobs import Answering
from harness_executor.subagents.quoting import quotes

_FENCE = re.compile(r"^(`{3,})([^`\n]*)\n(.*?)^\1`*[ \t\r]*$", re.MULTILINE | re.DOTALL)
"""A fenced block: its ticks, its language and its text; a fence is closed by one at least as long."""


class Unacceptable(Exception):
    """An answer that cannot be used; the model is told why."""


@frozen
class PlannedPhase:
    """One stretch of work."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    name: str
    objective: str
    files: tuple[str, ...] = ()
    """Files to change or create."""


@frozen
class PlanReply:
    """How the change will be made."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    summary: str
    contract: str
    """What a client sees: method, path, request, response, errors."""
    phases: tuple[PlannedPhase, ...]
    """One phase unless the work must be committed in parts."""


@frozen
class ScenariosReply:
    """Acceptance scenarios."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    scenarios: tuple[Scenario, ...]


@frozen
class CheckOutcome:
    """How the executor's own check ended."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    passed: bool
    command: str = ""
    output_summary: str = ""


@frozen
class WorkReply:
    """What the executor did."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    status: Literal["success", "failed", "blocked"]
    summary: str
    files_changed: tuple[str, ...] = ()
    files_created: tuple[str, ...] = ()
    validation_result: Literal["pass", "fail", ""] | CheckOutcome = ""
    validation_output: str = ""
    lessons: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    """What only a person can provide."""
    disputes: tuple[Dispute, ...] = ()
    """What you were sent back with and nobody asked for."""


@frozen
class ReviewFinding:
    """One thing found."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    severity: Literal["critical", "high", "medium", "low"]
    where: str
    """file:line"""
    issue: str
    fix: str


@frozen
class ReviewReply:
    """What a review found."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    summary: str
    findings: tuple[ReviewFinding, ...]


@frozen
class RulingsReply:
    """What the verifier says of disputed scenarios."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    rulings: tuple[Ruling, ...]
    """One for each disputed scenario."""


@frozen
class AdditionsReply:
    """Scenarios beside those that are frozen."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    scenarios: tuple[Scenario, ...]
    """None where the request and the interface say nothing."""


Result = PlanReply | ScenariosReply | WorkReply | ReviewReply | RulingsReply | AdditionsReply

TYPES: Mapping[Answering, type[Result]] = {
    Answering.PLAN: PlanReply,
    Answering.SCENARIOS: ScenariosReply,
    Answering.WORK: WorkReply,
    Answering.REVIEW: ReviewReply,
    Answering.RULINGS: RulingsReply,
    Answering.ADDITIONS: AdditionsReply,
}


def from_arguments(
    answering: Answering, arguments: Mapping[str, Any], sources: tuple[str, ...] = ()
) -> Result:
    """The result handed over through the submit tool; scenarios quote the sources, if there are any."""
    try:
        result = read(TYPES[answering], parse(canonical(arguments)))
    except ShapeError as error:
        raise Unacceptable(f"the result does not fit its schema: {error.message}") from error
    except (ValueError, RecursionError) as error:
        raise Unacceptable(f"the result is not plain JSON: {error}") from error
    _sensible(result)
    if sources:
        _quoting(_written_by(result), sources)
        _ruled(result.rulings if isinstance(result, RulingsReply) else (), sources)
    return result


def fair(result: Result, frozen: tuple[Scenario, ...], missed: tuple[Shortfall, ...]) -> Result:
    """The same result, if it takes nothing from the scenarios that it may not."""
    problem = ""
    if isinstance(result, RulingsReply):
        problem = problem_of_rulings(frozen, missed, result.rulings)
    elif isinstance(result, AdditionsReply) and result.scenarios:
        problem = problem_of((*frozen, *result.scenarios))
    if problem:
        raise Unacceptable(problem)
    return result


def _written_by(result: Result) -> tuple[Scenario, ...]:
    match result:
        case ScenariosReply() | AdditionsReply():
            return result.scenarios
        case RulingsReply():
            return tuple(ruling.amended for ruling in result.rulings if ruling.amended is not None)
    return ()


def _ruled(rulings: tuple[Ruling, ...], sources: tuple[str, ...]) -> None:
    for ruling in rulings:
        if not quotes(ruling.quote, sources):
            raise Unacceptable(
                f"the ruling on {ruling.scenario!r} does not quote the request or the interface:"
                f" {ruling.quote[:200]!r}; what you cannot quote, nobody asked for"
            )


def from_text(answering: Answering, text: str, sources: tuple[str, ...] = ()) -> Result:
    """The result written as the one fenced JSON block of a message."""
    blocks = _blocks(text)
    if not blocks:
        raise Unacceptable("there is no result; call submit_result")
    if len(blocks) > 1:
        raise Unacceptable(f"there are {len(blocks)} fenced results; exactly one is accepted")
    return from_arguments(answering, _object("block", blocks[0]), sources)


def from_json(answering: Answering, text: str, sources: tuple[str, ...] = ()) -> Result:
    """The result that is the whole of a message, or its one fenced block."""
    if _FENCE.search(text):
        return from_text(answering, text, sources)
    return from_arguments(answering, _object("message", text), sources)


def _blocks(text: str) -> list[str]:
    return [body for _, language, body in _FENCE.findall(text) if language.strip() in ("", "json")]


def _object(what: str, text: str) -> Mapping[str, Any]:
    try:
        data = parse(text)
    except Ambiguous as error:
        raise Unacceptable(f"the {what} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise Unacceptable("the result is a JSON object")
    return data


def _quoting(scenarios: tuple[Scenario, ...], sources: tuple[str, ...]) -> None:
    for scenario in scenarios:
        for words in (scenario.why, *(step.because for step in scenario.steps if step.because)):
            if not quotes(words, sources):
                raise Unacceptable(
                    f"the scenario {scenario.name!r} does not quote the request or the interface:"
                    f" {words[:200]!r}; copy the words it comes from, or leave it out"
                )


def _sensible(result: Result) -> None:
    match result:
        case PlanReply(phases=()):
            raise Unacceptable("a plan has at least one phase")
        case PlanReply() if any(not phase.name.strip() or "\0" in phase.name for phase in result.phases):
            raise Unacceptable("every phase has a name, in plain text")
        case WorkReply() if "\0" in result.summary:
            raise Unacceptable("the summary holds a NUL character")
        case ScenariosReply() | AdditionsReply(scenarios=(_, *_)):
            problem = problem_of(result.scenarios) or _unsaid(result.scenarios)
            if problem:
                raise Unacceptable(problem)
        case RulingsReply():
            for scenario in _written_by(result):
                problem = problem_of((scenario,)) or _unsaid((scenario,))
                if problem:
                    raise Unacceptable(problem)


def _unsaid(scenarios: tuple[Scenario, ...]) -> str:
    for scenario in scenarios:
        if any(step.request is not None and step.expect.status is None for step in scenario.steps):
            return f"{scenario.name}: every request expects a status"
        if unread := ends_in_a_write(scenario):
            return f"{scenario.name}: {unread}"
    return ""
