"""Would a scenario notice a broken answer? Break the recorded answers and see."""

from typing import Any

from harness_executor.evidence.breaking import (
    EMPTY,
    KEY,
    LOCATION,
    STATUS,
    TEXT,
    VALUE,
    Broken,
    broken_answers,
    stale,
)
from harness_executor.evidence.breaking_endings import ENDINGS, broken_endings
from harness_executor.kernel.canonical import canonical
from harness_executor.kernel.expect import Answer, Ended, captured, check, same
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.filling import filled
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.lean import lean
from harness_executor.kernel.report import ScenarioRun, StepRun
from harness_executor.kernel.scenario import Scenario
from harness_executor.kernel.values import bind, names_in

DEMANDED = (STATUS, EMPTY, KEY, VALUE, TEXT, LOCATION, *ENDINGS)
"""Classes that a proof has to notice; to demand more would refuse good work."""

_SOMEWHERE = (KEY, VALUE)
"""Classes of which one broken answer of a step has to be noticed; of the others, all."""


@frozen
class Strength:
    """How many broken answers a scenario notices, and which classes it never does."""

    mutants: int
    killed: int
    survived: tuple[str, ...]
    """Of the classes that are demanded."""
    overlooked: tuple[str, ...] = ()
    """Of the others."""


@frozen
class Script:
    """What a run was made of: the scenario, and what its values were drawn by."""

    scenario: Scenario
    seed: str


def strength_of(run: ScenarioRun, since: int = 0, script: Script | None = None) -> Strength:
    """Break each answer of a passing run in every way, one at a time, from one of its steps on."""
    noticed: dict[str, bool] = {}
    mutants = killed = 0
    for number, step in enumerate(run.steps[since:], since):
        by_class: dict[str, list[bool]] = {}
        for name, answer in _mutants(step, run.steps[:number]):
            caught = _notices(step, answer) or _notices_later(script, run, number, answer)
            by_class.setdefault(name, []).append(caught)
        for name, results in by_class.items():
            mutants, killed = mutants + len(results), killed + sum(results)
            caught = any(results) if name in _SOMEWHERE or name not in DEMANDED else all(results)
            noticed[name] = noticed.get(name, False) or caught
    missed = [name for name, caught in noticed.items() if not caught]
    return Strength(
        mutants,
        killed,
        tuple(name for name in missed if name in DEMANDED),
        tuple(name for name in missed if name not in DEMANDED),
    )


def _mutants(step: StepRun, before: tuple[StepRun, ...]) -> tuple[Broken, ...]:
    answer = step.exchange.answer
    if answer is None:
        return ()
    if isinstance(answer, Ended):
        return tuple(broken_endings(answer, step.expect))
    return (*broken_answers(answer, step.expect), *stale(step, before))


def _notices(step: StepRun, answer: Answer) -> bool:
    if not _fits(step.expect, answer):
        return True
    try:
        for path in step.capture.values():
            captured(path, answer)
    except LookupError:
        return True
    return False


def _notices_later(script: Script | None, run: ScenarioRun, number: int, answer: Answer) -> bool:
    """Does a later answer not fit what is remembered of the broken one, before a request depends on it?"""
    step = run.steps[number]
    if script is None or not step.capture:
        return False
    whole = {name: _remembered(path, step) for name, path in step.capture.items()}
    wrong = {name: captured(path, answer) for name, path in step.capture.items()}
    wrong = {name: value for name, value in wrong.items() if not same(value, whole[name])}
    known = bind(script.scenario.let, script.seed)
    for at, (later, wanted) in enumerate(zip(run.steps, script.scenario.steps, strict=False)):
        if at > number:
            if not wrong or wrong.keys() & set(names_in(canonical(lean(wanted.act)))):
                return False
            expect = filled(wanted.expect, {**known, **wrong}, f"{script.seed}:{at}")
            if later.exchange.answer and not _fits(expect, later.exchange.answer):
                return True
            wrong = {name: value for name, value in wrong.items() if name not in later.capture}
        known |= {name: _remembered(path, later) for name, path in later.capture.items()}
    return False


def _remembered(path: str, step: StepRun) -> Any:
    return captured(path, step.exchange.answer) if step.exchange.answer else None


def _fits(expect: Expect, answer: Answer) -> bool:
    return all(assertion.passed for assertion in check(expect, answer))
