"""Scenarios carried out on one server, or in one box."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness_executor.evidence.ground import Ground, carry_out
from harness_executor.kernel.expect import captured, check
from harness_executor.kernel.filling import filled
from harness_executor.kernel.report import ScenarioRun, StepRun
from harness_executor.kernel.scenario import Scenario, Step
from harness_executor.kernel.values import NoSuchValue, bind

if TYPE_CHECKING:
    from harness_executor.evidence.exchange import Client


def run_scenario(scenario: Scenario, ground: Ground, seed: str) -> ScenarioRun:
    """One scenario, with values drawn for this seed; it ends at the first step that does not pass."""
    done: list[StepRun] = []
    problem = ""
    try:
        with ground.user() as client:
            for ran in _steps(scenario, ground, client, f"{seed}:{scenario.name}"):
                done.append(ran)  # noqa: PERF402 - kept when a later step cannot be made
    except LookupError as error:
        problem = str(error)
    complete = not problem and len(done) == len(scenario.steps)
    return ScenarioRun(scenario.name, tuple(done), complete, problem)


def _steps(scenario: Scenario, ground: Ground, client: "Client | None", seed: str) -> Iterator[StepRun]:
    known: dict[str, Any] = bind(scenario.let, seed)
    for number, step in enumerate(scenario.steps):
        expect = filled(step.expect, known, f"{seed}:{number}")
        act = filled(step.act, known, f"{seed}:{number}")
        deed = carry_out(act, ground, client, tuple(expect.files))
        assertions = check(expect, deed.answer) if deed.answer else ()
        ran = StepRun(step.description, deed, expect, assertions, step.capture)
        yield ran
        if not ran.passed:
            return
        known |= _captures(step, ran)


def _captures(step: Step, ran: StepRun) -> dict[str, Any]:
    if ran.exchange.answer is None:
        raise NoSuchValue("there was no answer to capture from")
    return {name: captured(path, ran.exchange.answer) for name, path in step.capture.items()}
