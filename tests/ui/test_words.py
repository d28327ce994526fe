"""Facts in one sentence each."""

import dataclasses
import inspect
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from harness_executor.kernel import events as e
from harness_executor.kernel import revisions, survey
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.failures import FailureClass
from harness_executor.kernel.report import Finding, Meaning
from harness_executor.kernel.scenario import Kind
from harness_executor.kernel.task import replay
from harness_executor.ui.plain import plain
from harness_executor.ui.words import sentence, spending
from tests.kernel.examples import SURVEYED

FACTS = [
    kind
    for kind in {**vars(e), **vars(revisions), **vars(survey)}.values()
    if inspect.isclass(kind) and issubclass(kind, e.Fact) and kind is not e.Fact
]
SPOOF = "\x1b[2J\x1b[32m\n■ completed\r  accepted\x07\u202e\u2028end"


def _make(kind: Any, text: str) -> Any:
    """A value of a type, with this text wherever a text goes and one of everything there can be many of."""
    if kind is str:
        return text
    if kind in (int, float, bool):
        return kind(0)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return kind(**{field.name: _make(hints[field.name], text) for field in dataclasses.fields(kind)})
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return next(iter(kind))
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        return (_make(inner[0], text),)
    if origin in (Mapping, dict) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return {text: _make(inner[1], text)}
    return _make(inner[0], text) if origin is Union or inner else text


def _finding(name: str, meaning: Meaning) -> Finding:
    return Finding(name, Kind.NEW, "verifier", meaning)


@pytest.mark.parametrize("kind", FACTS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("text", ["", "words", "a\nb", SPOOF, "\ud800\0", "[bold]{markup}[/bold] %s"])
def test_every_fact_has_words_or_none(kind: type[e.Fact], text: str) -> None:
    """No fact there is, whatever stands in it, is beyond words."""
    assert isinstance(sentence(_make(kind, text)), str)


@pytest.mark.parametrize("kind", FACTS, ids=lambda kind: kind.__name__)
def test_nothing_in_a_fact_moves_the_cursor_or_poses_as_our_line(kind: type[e.Fact]) -> None:
    """Text of a model or a project is shown with its control characters, below our own words."""
    said = sentence(_make(kind, SPOOF))
    assert all(line.isprintable() for line in said.split("\n"))
    assert not any(line.startswith(("■ completed", "  accepted")) for line in said.split("\n"))


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        (e.StepStarted(e.StepName.PLAN, 1), "▸ plan"),
        (e.StepStarted(e.StepName.EXECUTE, 2, 1), "▸ execute phase 1 (attempt 2)"),
        (e.StepFailed(e.StepName.PLAN, FailureClass.AGENT, "no answer"), "  failed: no answer"),
        (e.StepFailed(e.StepName.PLAN, FailureClass.AGENT, "one\ntwo"), "  failed: one\n          two"),
        (e.ProjectRead("", {}, ("a", "b")), "  a\n  b"),
        (e.TaskPaused("a password"), "  paused: a password"),
        (e.TaskPaused("no money", e.Cause.BUDGET), "  paused (budget): no money"),
        (e.CallStumbled("j", 1, 2, "p:m", 529, "r", "overloaded", 3.0, ""), "  attempt 2 failed: overloaded"),
        (e.TaskClosed(e.Status.REFUSED, ""), "■ refused"),
        (e.PlanProposed("count them", (), ""), "  plan: count them"),
        (e.ScenariosFrozen((), "0123456789abcdef"), "  0 scenarios frozen as 0123456789ab"),
        (e.ChangeMade(1, 1, "t", "", "s", ("a.py",), ("b.py",)), "  changed: a.py, b.py"),
        (e.ChangeMade(1, 1, "t", "", "s", (), ()), "  changed: nothing"),
        (
            e.ChangeMade(1, 1, "t", "", "s", (), (), own_reports=("r.json",)),
            "  changed: nothing\n  ignored: r.json, written by the executor",
        ),
        (e.PhaseExecuted(1, "t", "0123456789abcdef"), "  commit 0123456789ab"),
        (e.Validated("t", ()), "  0 checks, none newly red"),
        (e.Validated("t", (CheckResult("test", "make", True, False),)), "  newly red: test"),
        (e.Validated("t", (CheckResult("test", "make", False, False),)), "  1 checks, none newly red"),
        (e.GateJudged(True, ()), "  accepted"),
        (e.GateJudged(False, ("nothing was proved", "b")), "  refused: nothing was proved\n  refused: b"),
        (e.GateJudged(False, (), unverified=True), "  not refused, and not proved: nothing was run"),
        (SURVEYED, "  not run: no program reads what changed: README.md"),
        (e.PlanApproved("policy"), ""),
        (e.AgentAsked("j", "planner", "m"), ""),
    ],
)
def test_says_what_a_person_wants_to_hear(fact: e.Fact, said: str) -> None:
    """The words of a fact are short and have its values."""
    assert sentence(fact) == said


def test_says_what_each_scenario_means() -> None:
    """A verification has one line for each scenario, its meaning first."""
    verified = _make(e.Verified, "x")
    findings = (_finding("stats", Meaning.PROVES), _finding("list", Meaning.REGRESSES))
    verified = dataclasses.replace(
        verified, evidence=dataclasses.replace(verified.evidence, findings=findings)
    )
    assert sentence(verified) == "  proves    stats\n  regresses list"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, été, 日本, 😀", "plain words, été, 日本, 😀"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\u202eevil", "\\u202eevil"),
        ("\ud800\0", "\\ud800\\x00"),
        ("\x9b31m", "\\x9b31m"),
        ("", ""),
    ],
)
def test_control_characters_are_shown_and_not_obeyed(text: str, shown: str) -> None:
    """A text stays on its line; what cannot be printed is spelled out."""
    assert plain(text) == shown


def _spent(*charges: e.CallCharged) -> str:
    reserved = [e.CallReserved(fact.job_id, fact.call, fact.model, 1, 1, fact.micros) for fact in charges]
    return spending(replay([*reserved, *charges]))


def test_spending_is_said_in_one_line() -> None:
    """Money, calls and tokens; a price nobody knows is called unknown, never nothing."""
    known, unknown = e.CallCharged("j", 1, "m", 900, 100, 20_000), e.CallCharged("j", 2, "m", 9, 1)
    assert _spent(known) == "$0.02 (1 calls, 1,000 tokens)"
    assert _spent(unknown) == "price unknown (1 calls, 10 tokens)"
    assert _spent(known, unknown) == "$0.02 and 1 of unknown price (2 calls, 1,010 tokens)"
