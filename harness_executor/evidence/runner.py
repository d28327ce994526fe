"""Scenarios carried out on one server."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness_executor.clock import Clock
from harness_executor.evidence.dialing import Dial, here
from harness_executor.evidence.exchange import Client
from harness_executor.kernel.expect import captured, check
from harness_executor.kernel.report import ScenarioRun, StepRun
from harness_executor.kernel.scenario import Call, Expect, JsonCheck, Scenario, Step
from harness_executor.kernel.values import NoSuchValue, bind, fill


def run_scenario(scenario: Scenario, url: str, seed: str, clock: Clock, dial: Dial = here) -> ScenarioRun:
    """One scenario, with values drawn for this seed; it ends at the first step that does not pass."""
    done: list[StepRun] = []
    problem = ""
    try:
        with Client(url, clock, dial) as client:
            for ran in _steps(scenario, client, f"{seed}:{scenario.name}"):
                done.append(ran)  # noqa: PERF402 - kept when a later step cannot be made
    except LookupError as error:
        problem = str(error)
    complete = not problem and len(done) == len(scenario.steps)
    return ScenarioRun(scenario.name, tuple(done), complete, problem)


def _steps(scenario: Scenario, client: Client, seed: str) -> Iterator[StepRun]:
    known: dict[str, Any] = bind(scenario.let, seed)
    for number, step in enumerate(scenario.steps):
        ran = _run_step(step, client, known, f"{seed}:{number}")
        yield ran
        if not ran.passed:
            return
        known |= _captures(step, ran)


def _run_step(step: Step, client: Client, known: dict[str, Any], seed: str) -> StepRun:
    exchange = client.send(_filled_call(step.request, known, seed))
    expect = _filled_expect(step.expect, known, seed)
    assertions = check(expect, exchange.answer) if exchange.answer else ()
    return StepRun(step.description, exchange, expect, assertions, step.capture)


def _captures(step: Step, ran: StepRun) -> dict[str, Any]:
    if ran.exchange.answer is None:
        raise NoSuchValue("there was no answer to capture from")
    return {name: captured(path, ran.exchange.answer) for name, path in step.capture.items()}


def _filled_call(call: Call, known: dict[str, Any], seed: str) -> Call:
    return replace(
        call,
        path=str(fill(call.path, known, f"{seed}:path")),
        headers={name: str(fill(value, known, f"{seed}:{name}")) for name, value in call.headers.items()},
        json=fill(call.json, known, f"{seed}:json"),
        body=None if call.body is None else str(fill(call.body, known, f"{seed}:body")),
    )


def _filled_expect(expect: Expect, known: dict[str, Any], seed: str) -> Expect:
    def texts(values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(fill(value, known, seed)) for value in values)

    return replace(
        expect,
        headers={name: str(fill(value, known, seed)) for name, value in expect.headers.items()},
        json=tuple(_filled_check(wanted, known, seed) for wanted in expect.json),
        body_contains=texts(expect.body_contains),
        body_not_contains=texts(expect.body_not_contains),
        body_matches=texts(expect.body_matches),
    )


def _filled_check(wanted: JsonCheck, known: dict[str, Any], seed: str) -> JsonCheck:
    return replace(wanted, path=str(fill(wanted.path, known, seed)), value=fill(wanted.value, known, seed))
