"""What one verification observed."""

from dataclasses import replace
from itertools import product

import pytest

from harness_executor.kernel.expect import Answer, Assertion
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.report import (
    PREDEFINED,
    Evidence,
    Exchange,
    Meaning,
    ScenarioRun,
    StepRun,
    explain,
)
from tests.kernel.examples import EVIDENCE

OK = Assertion("status_code", 200, 200, passed=True)
WRONG = Assertion("status_code", 200, 404, passed=False)


ANSWER = Answer(200, (), "")


def ran(*assertions: Assertion, answer: Answer | None = ANSWER) -> StepRun:
    """One step with these comparisons."""
    exchange = Exchange("GET", "http://127.0.0.1:8000/items?all=1", {}, None, answer, "no answer: refused")
    return StepRun("", exchange, Expect(200), assertions)


@pytest.mark.parametrize(
    ("step", "passed"),
    [
        (ran(OK), True),
        (ran(OK, OK), True),
        (ran(OK, WRONG), False),
        (ran(), False),
        (ran(OK, answer=None), False),
    ],
)
def test_a_step_passes_only_with_an_answer_that_was_compared(step: StepRun, passed: bool) -> None:
    """No answer is no pass, and nothing compared is nothing passed."""
    assert step.passed is passed


@pytest.mark.parametrize(
    ("run", "passed"),
    [
        (ScenarioRun("a", (ran(OK), ran(OK)), complete=True), True),
        (ScenarioRun("a", (ran(OK), ran(WRONG)), complete=True), False),
        (ScenarioRun("a", (ran(OK),), complete=False), False),
        (ScenarioRun("a", (), complete=True), False),
    ],
)
def test_a_scenario_passes_only_as_a_whole(run: ScenarioRun, passed: bool) -> None:
    """Every step must have been carried out and passed; no step is no scenario."""
    assert run.passed is passed


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (
            ScenarioRun("a", (ran(OK, WRONG),), complete=True),
            "GET /items?all=1: status_code: expected 200, got 404",
        ),
        (
            ScenarioRun("a", (ran(OK), ran(answer=None)), complete=False),
            "GET /items?all=1: no answer: refused",
        ),
        (ScenarioRun("a", (ran(OK),), complete=False, error="id was not captured"), "id was not captured"),
        (ScenarioRun("a", (ran(OK),), complete=True), ""),
    ],
)
def test_explains_the_first_thing_that_went_wrong(run: ScenarioRun, words: str) -> None:
    """Which request, what was expected, what came."""
    assert explain(run) == words


def test_a_url_without_a_path_is_shown_as_it_is() -> None:
    """Nothing is cut from what has no path."""
    step = ran(WRONG)
    bare = replace(step, exchange=Exchange("GET", "http://127.0.0.1:8000", {}, None, step.exchange.answer))
    assert explain(ScenarioRun("a", (bare,), complete=True)).startswith("GET http://127.0.0.1:8000: ")


def test_finds_findings_by_their_meaning() -> None:
    """Each finding is found under its own meaning, in order, and under no other."""
    one = EVIDENCE.findings[0]
    names = [(meaning, number) for meaning, number in product(Meaning, (1, 2))]
    findings = tuple(replace(one, name=f"{meaning}{number}", meaning=meaning) for meaning, number in names)
    evidence: Evidence = replace(EVIDENCE, findings=findings)
    for meaning in Meaning:
        assert [finding.name for finding in evidence.of(meaning)] == [f"{meaning}1", f"{meaning}2"]


def test_a_long_value_is_shown_by_its_beginning() -> None:
    """A reason goes to models, terminals and annotations, and a whole list of thousands helps nobody."""
    check = Assertion("json_path $.items equals", 1, ["pen"] * 50_000, passed=False)
    said = explain(ScenarioRun("a", (replace(ran(WRONG), assertions=(check,)),), complete=True))
    assert len(said) < 1000
    assert "expected 1, got ['pen', 'pen'" in said
    assert said.endswith("(350000 characters)")


@pytest.mark.parametrize(
    ("source", "meaning", "is_against"),
    [
        ("scenario_file", Meaning.MISSING, True),
        ("scenario_file", Meaning.REGRESSES, True),
        (PREDEFINED, Meaning.REGRESSES, True),
        (PREDEFINED, Meaning.MISSING, False),
        ("scenario_file", Meaning.NOISY, False),
        ("scenario_file", Meaning.HOLDS, False),
    ],
)
def test_a_kept_scenario_that_fails_on_both_sides_is_not_against_the_change(
    source: str, meaning: Meaning, is_against: bool
) -> None:
    """What failed before and fails now is a matter of its own, unless the task is about it."""
    finding = replace(EVIDENCE.findings[0], source=source, meaning=meaning)
    assert finding.is_against is is_against


def test_a_run_that_ended_on_a_value_that_was_not_there_says_so() -> None:
    """All steps passed, and the last one was to give a value."""
    step = replace(ran(OK), capture={"id": "$.id"})
    error = "the answer has nothing at $.id"
    assert ScenarioRun("a", (step,), complete=False, error=error).lacks_capture
    assert not ScenarioRun("a", (ran(OK),), complete=False, error=error).lacks_capture
    assert not ScenarioRun("a", (step,), complete=True).lacks_capture
    failed = replace(ran(WRONG), capture={"id": "$.id"})
    assert not ScenarioRun("a", (failed,), complete=False, error=error).lacks_capture
