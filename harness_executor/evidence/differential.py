"""Base and change side by side: the same scenarios, twice on each, and what that means."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness_executor import faults
from harness_executor.clock import Clock
from harness_executor.errors import BoxBroke, ServerError, ServerExited
from harness_executor.evidence.mutation import Strength, strength_of
from harness_executor.evidence.runner import run_scenario
from harness_executor.evidence.server import Stand, fixed_port, running_server
from harness_executor.evidence.sockets import free_port
from harness_executor.kernel.report import (
    Assurance,
    Finding,
    Meaning,
    Observation,
    ScenarioRun,
    ServerRecord,
    Side,
    explain,
    meaning_of,
)
from harness_executor.kernel.scenario import Call, Expect, Kind, Scenario, Step
from harness_executor.sandbox.base import Room, Sandbox
from harness_executor.workspace.project import Start

RUNS = 2
"""Servers per side: what differs between two runs of the same code is noise."""

HARNESS = "harness"
CONTROL = Scenario(
    name="unknown route is turned away",
    why="a server that says yes to everything proves nothing",
    kind=Kind.NEGATIVE,
    steps=(Step(Call("/{{ random.word }}-{{ random.uuid }}"), Expect("4xx")),),
)


@dataclass(frozen=True)
class Place:
    """One server to start: which side, which copy of the code, where its output goes."""

    side: Side
    run: int
    room: Room
    log: Path


@dataclass(frozen=True)
class Observed:
    """What one server did."""

    place: Place
    record: ServerRecord
    runs: tuple[ScenarioRun, ...]
    problem: ServerError | None = None
    tail: str = ""


@dataclass(frozen=True)
class Lab:
    """What is needed to run servers and scenarios."""

    sandbox: Sandbox
    clock: Clock
    start: Start
    scenarios: tuple[Scenario, ...]
    seed: str
    notify: Callable[[str], None]
    port: int = field(default_factory=free_port)
    """The port of every server that has a network of its own, so that old and new code are asked alike."""


def observe(lab: Lab, places: tuple[Place, ...]) -> tuple[Observed, ...]:
    """Every server at once in a box; without one, the base before any code of the change can reach it."""
    if lab.sandbox.assurance is Assurance.SANDBOXED:
        return tuple(_observe_together(lab, list(places)))
    sides = [[place for place in places if place.side is side] for side in Side]
    return tuple(observed for group in sides for observed in _observe_together(lab, group))


def _observe_together(lab: Lab, places: list[Place]) -> list[Observed]:
    one_by_one = fixed_port(lab.start) and lab.sandbox.assurance is not Assurance.SANDBOXED
    with ThreadPoolExecutor(1 if one_by_one else max(1, len(places))) as pool:
        return list(pool.map(lambda place: _observe_one(lab, place), places))


def _observe_one(lab: Lab, place: Place) -> Observed:
    runs: list[ScenarioRun] = []
    server = None
    owns = False
    problem: ServerError | None = None
    try:
        stand = Stand(place.room, place.log, lab.port)
        with running_server(lab.start, stand, lab.sandbox, lab.clock) as server:
            name = f"{place.side.value} server {place.run}"
            lab.notify(f"{name} ready on port {server.port} in {server.ready_in:.2f} s")
            for scenario in (*lab.scenarios, CONTROL):
                runs.append(run_scenario(scenario, server.url, lab.seed, lab.clock, server.box.dial))
                faults.point("scenario.run")
            server.prove_ours()
            owns = True
    except ServerError as error:
        problem = error
    except BoxBroke as error:
        problem = ServerExited(error.message, hint=error.hint)
    started = server is not None
    record = ServerRecord(
        place.side,
        place.run,
        started=started,
        owns_port=owns,
        ready_in_seconds=server.ready_in if server else 0.0,
        stopped=server is None or server.stopped,
        port_free=server is None or server.port_is_free(),
        detail=problem.message if problem else "",
    )
    return Observed(place, record, tuple(runs), problem, server.tail() if server else "")


def compare(lab: Lab, observed: tuple[Observed, ...], sources: dict[str, str]) -> tuple[Observation, ...]:
    """What each scenario means, from all runs on both sides."""
    found: list[Observation] = []
    for number, scenario in enumerate((*lab.scenarios, CONTROL)):
        base = _runs(observed, Side.BASE, number, scenario)
        change = _runs(observed, Side.CHANGE, number, scenario)
        source = sources.get(scenario.name, "coordinator_designed") if scenario is not CONTROL else HARNESS
        observation = Observation(scenario, base, change, _finding(scenario, base, change, source))
        if scenario is not CONTROL or observation.finding.meaning is not Meaning.MISSING:
            found.append(observation)
    return tuple(found)


def _runs(
    observed: tuple[Observed, ...], side: Side, number: int, scenario: Scenario
) -> tuple[ScenarioRun, ...]:
    unseen = ScenarioRun(scenario.name, (), complete=False, error="the server did not run this scenario")
    return tuple(
        one.runs[number] if number < len(one.runs) else unseen for one in observed if one.place.side is side
    )


def _fresh(base: tuple[ScenarioRun, ...], change: ScenarioRun) -> ScenarioRun:
    # A step that passed on base already proves nothing; the last one tried there is the first that may.
    held = min(max(len(run.steps) - 1, 0) for run in base)
    return replace(change, steps=change.steps[held:])


def _finding(
    scenario: Scenario, base: tuple[ScenarioRun, ...], change: tuple[ScenarioRun, ...], source: str
) -> Finding:
    works = all(run.passed for run in change)  # what works only sometimes does not work
    meaning = meaning_of(tuple(run.passed for run in base), (works,))
    strength = strength_of(_fresh(base, change[0])) if meaning is Meaning.PROVES else Strength(0, 0, ())
    failing = next((run for run in (*change, *base) if not run.passed), None)
    reason = explain(failing) if failing and meaning is not Meaning.PROVES else ""
    return Finding(
        scenario.name,
        scenario.kind,
        source,
        meaning,
        reason,
        strength.survived,
        strength.mutants,
        strength.killed,
    )
