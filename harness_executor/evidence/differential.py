"""Base and change side by side: the same scenarios, twice or more on each, and what that means."""

from collections.abc import Callable, Container, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from pathlib import Path

from harness_executor import faults
from harness_executor.clock import Clock
from harness_executor.errors import BoxBroke, PackagesMissing, ServerError, ServerExited, ServiceFailed
from harness_executor.evidence.asking import AGENT, OTHER_AGENT
from harness_executor.evidence.departing import Spot, staying
from harness_executor.evidence.executing import Yard, streams_beside
from harness_executor.evidence.ground import Ground, client_class
from harness_executor.evidence.idling import heeding
from harness_executor.evidence.mutation import Script, Strength, strength_of
from harness_executor.evidence.ports import choose_ports, has_fixed, placeholders, server_environment
from harness_executor.evidence.runner import run_scenario
from harness_executor.evidence.server import Stand, running_server
from harness_executor.evidence.services.running import Site, Wanted, serving
from harness_executor.evidence.sockets import free_port
from harness_executor.evidence.strangers import CONTROLS, counting
from harness_executor.evidence.welcoming import refusing
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.doubt import (
    MOST,
    Outcome,
    is_hasty,
    is_open,
    is_unsteady,
    outcome_of,
    weigh,
)
from harness_executor.kernel.expect import Ended
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.heldout import draws
from harness_executor.kernel.report import (
    Finding,
    Launch,
    Meaning,
    Observation,
    ScenarioRun,
    ServerRecord,
    Side,
    StepRun,
    YardRecord,
    explain,
)
from harness_executor.kernel.scenario import Kind, Scenario
from harness_executor.sandbox.base import Box, Room, Sandbox
from harness_executor.workspace.project import Start

RUNS = 2
"""Servers per side: what differs between two runs of the same code is noise."""
_ECHOES = 3
"""How often a scenario is tried again on its server, to see whether it comes out alike."""
_ECHO_SECONDS = 5.0

_FETCH = (
    "list the hosts that the install needs in `[network] allow` of your own config.toml, "
    "or install the packages in the project's folder yourself"
)

HARNESS = "harness"


@frozen
class Place:
    """One server to start: which side, which copy of the code, where its output goes."""

    side: Side
    run: int
    room: Room
    log: Path
    problem: ServerError | None = None
    """Why it cannot be started."""
    note: str = ""
    """What a reader should know who sees that it did not start."""
    is_cut_off: bool = False
    """Could packages not be fetched because no host may be reached?"""


@frozen
class Observed:
    """What one server did."""

    place: Place
    record: ServerRecord | YardRecord
    runs: tuple[ScenarioRun, ...]
    problem: ServerError | None = None
    tail: str = ""
    echoes: Mapping[int, tuple[Outcome, ...]] = field(default_factory=dict)
    """How scenarios came out when they were tried again."""
    began: float = 0.0
    """When work on it began, on the clock that never goes back."""
    ended: float = 0.0


@frozen
class Lab:
    """What is needed to run servers and scenarios."""

    sandbox: Sandbox
    clock: Clock
    start: Start
    scenarios: tuple[Scenario, ...]
    seed: str
    """Values are drawn by it and the number of a run: both sides are asked alike, the second run anew."""
    notify: Callable[[str], None]
    port: int = field(default_factory=free_port)
    """The port of every server that has a network of its own, so that old and new code are asked alike."""
    controls: tuple[Scenario, ...] = ()
    """What the harness itself tries of programs."""
    departed: Mapping[str, frozenset[Spot]] = field(default_factory=dict)
    """What of that is tried of what only base has, with the steps that expect it to fail."""
    wanted: tuple[Wanted, ...] = ()
    """The services beside each server."""
    serves: bool = False
    """Is a server started though no scenario sends a request?"""
    own: Start | None = None
    """How base is started where it does not start with the command that was given."""
    died: str = ""
    """What was seen of that, for the record of its servers."""
    late: tuple[str, ...] = ()
    """Scenarios that were written when the change was there."""

    def start_of(self, side: Side) -> Start:
        """How one side is started."""
        return self.own if self.own and side is Side.BASE else self.start.on(side)

    @property
    def launches(self) -> tuple[Launch, ...]:
        """How each side is started, and who said so."""
        starts = {side: self.start_of(side) for side in Side}
        return tuple(Launch(side, one.command, one.origin) for side, one in starts.items())

    @property
    def is_shared(self) -> bool:
        """Do servers meet in a service that is not thrown away?"""
        return any(one.outside for one in self.wanted)

    @property
    def needs_server(self) -> bool:
        """Does any scenario send a request, or is a server wanted beside programs?"""
        return self.serves or any(scenario.needs_server for scenario in self.scenarios)

    @property
    def everything(self) -> tuple[Scenario, ...]:
        """The scenarios, and what the harness tries itself."""
        return (*self.scenarios, *(CONTROLS if self.needs_server else self.controls))

    def seed_of(self, run: int) -> str:
        """What values of a run are drawn by; later runs repeat the first ones, to tell noise from values."""
        return f"{self.seed}:{(run - 1) % RUNS + 1}"


def observe(lab: Lab, places: tuple[Place, ...]) -> tuple[Observed, ...]:
    """Every server at once in a box; without one, the base before any code of the change can reach it."""
    if lab.sandbox.assurance is Assurance.SANDBOXED and not lab.is_shared:
        return tuple(_observe_together(lab, list(places)))
    sides = [[place for place in places if place.side is side] for side in Side]
    return tuple(observed for group in sides for observed in _observe_together(lab, group))


def _observe_together(lab: Lab, places: list[Place]) -> list[Observed]:
    is_boxed = lab.sandbox.assurance is Assurance.SANDBOXED
    fixed = any(has_fixed(lab.start_of(side)) for side in Side)
    one_by_one = lab.is_shared or (fixed and not is_boxed)
    with ThreadPoolExecutor(1 if one_by_one else max(1, len(places))) as pool:
        observing = [pool.submit(_observe_one, lab, place) for place in places]
        if lab.needs_server:
            client_class()
        return [one.result() for one in observing]


def _observe_one(lab: Lab, place: Place) -> Observed:
    return _observe_server(lab, place) if lab.needs_server else _observe_programs(lab, place)


def _yard(lab: Lab, place: Place, box: Box, env: Mapping[str, str]) -> Yard:
    streams = streams_beside(place.log)
    return Yard(box, place.room, streams, lab.clock, lab.start_of(place.side).working_dir, env)


def _carry_out_all(lab: Lab, place: Place, ground: Ground, runs: list[ScenarioRun]) -> None:
    for scenario in lab.everything:
        runs.append(run_scenario(scenario, ground, lab.seed_of(place.run)))
        faults.point("scenario.run")


def _observe_programs(lab: Lab, place: Place) -> Observed:
    runs: list[ScenarioRun] = []
    problem: ServerError | None = place.problem
    began = lab.clock.monotonic()
    box = lab.sandbox.open(place.room)
    try:
        if problem is None:
            _run_programs(lab, place, box, runs)
    except (BoxBroke, ServiceFailed) as error:
        problem = ServerExited(error.message, hint=error.hint)
    finally:
        gone = box.close()
    ended = sum(step.exchange.answer is not None for run in runs for step in run.steps)
    record = YardRecord(place.side, place.run, ended, gone, problem.message if problem else "")
    return Observed(place, record, tuple(runs), problem, began=began, ended=lab.clock.monotonic())


def _run_programs(lab: Lab, place: Place, box: Box, runs: list[ScenarioRun]) -> None:
    start = lab.start_of(place.side)
    ports = choose_ports(start, box, lab.port)
    with serving(lab.wanted, Site(box, place.log, lab.clock, frozenset(ports.all()))) as services:
        yard = _yard(lab, place, box, server_environment(start, placeholders(ports, services), services))
        _carry_out_all(lab, place, Ground(lab.clock, yard=yard, services=services), runs)
        lab.notify(f"{place.side.value} run {place.run}: {len(runs)} scenarios")


def _observe_server(lab: Lab, place: Place) -> Observed:
    runs: list[ScenarioRun] = []
    server = None
    owns = False
    problem: ServerError | None = None
    echoes: Mapping[int, tuple[Outcome, ...]] = {}
    began = lab.clock.monotonic()
    try:
        if place.problem:
            raise place.problem
        stand = Stand(place.room, place.log, lab.port, lab.wanted)
        with running_server(lab.start_of(place.side), stand, lab.sandbox, lab.clock) as server:
            name = f"{place.side.value} server {place.run}"
            lab.notify(f"{name} ready on port {server.port} in {server.ready_in:.2f} s")
            yard = _yard(lab, place, server.box, server.env)
            near = (server.box.dial, yard, server.ports.named, server.services)
            ground = Ground(lab.clock, server.url, *near, OTHER_AGENT if place.run % 2 == 0 else AGENT)
            _carry_out_all(lab, place, ground, runs)
            server.prove_held()
            owns = True
            echoes = _echoes(lab, place, ground, runs) if place.run <= RUNS else {}
    except ServerError as error:
        problem = error
    except (BoxBroke, ServiceFailed) as error:
        problem = ServerExited(error.message, hint=error.hint)
    if problem and place.note and server is None:
        problem = _for_want_of_packages(problem, place)
    started = server is not None
    record = ServerRecord(
        place.side,
        place.run,
        started=started,
        owns_port=owns,
        ready_in_seconds=server.ready_in if server else 0.0,
        stopped=server is None or server.stopped,
        port_free=server is None or server.port_is_free(),
        detail=problem.message if problem else lab.died if place.side is Side.BASE else "",
    )
    tail = server.tail() if server else ""
    return Observed(place, record, tuple(runs), problem, tail, echoes, began, lab.clock.monotonic())


def _for_want_of_packages(problem: ServerError, place: Place) -> ServerError:
    """That a server did not start after its packages could not be installed."""
    if place.is_cut_off:
        return PackagesMissing(f"{place.note}\nwithout them: {problem.message}", hint=_FETCH)
    return type(problem)(f"{problem.message}\n{place.note}", hint=f"mend the install first; {problem.hint}")


def _echoes(
    lab: Lab, place: Place, ground: Ground, runs: list[ScenarioRun]
) -> dict[int, tuple[Outcome, ...]]:
    """What failed and what is new, tried again: a hint where to look, since the server is used by now."""
    until = lab.clock.monotonic() + _ECHO_SECONDS
    found: dict[int, tuple[Outcome, ...]] = {}
    for number, (scenario, first) in enumerate(zip(lab.scenarios, runs, strict=False)):
        is_new = place.side is Side.CHANGE and scenario.kind in (Kind.NEW, Kind.CHANGED)
        if is_new or not first.passed:
            heard = tuple(_echo(lab, ground, scenario, until))
            found |= {number: heard} if len(heard) == _ECHOES else {}
    return found


def _echo(lab: Lab, ground: Ground, scenario: Scenario, until: float) -> Iterator[Outcome]:
    for echo in range(_ECHOES):
        if lab.clock.monotonic() >= until:
            return
        yield outcome_of(run_scenario(scenario, ground, f"{lab.seed}:echo{echo}"))


def settle(
    lab: Lab,
    observed: tuple[Observed, ...],
    more: Callable[[int], tuple[Place, ...]],
    again: Container[Scenario] = (),
) -> tuple[Observed, ...]:
    """Start more servers on both sides until scenarios that fail now and then are understood.

    What is asked again by itself in any case, should it seem broken, needs no more of them here.
    """
    run = RUNS
    while run < MOST and any(_is_open(lab, observed, number, again) for number in range(len(lab.scenarios))):
        lab.notify(f"a scenario fails now and then: servers {run + 1} and {run + 2} of each side are asked")
        batch = observe(lab, more(run + 1))
        if any(one.problem is not None and one.place.side is Side.BASE for one in batch):
            break
        observed = (*observed, *batch)
        run += RUNS
    return observed


def _is_open(lab: Lab, observed: tuple[Observed, ...], number: int, again: Container[Scenario]) -> bool:
    scenario = lab.scenarios[number]
    base, change = (_passed(observed, side, number, scenario) for side in Side)
    differ = len(set(base)) > 1 or len(set(change)) > 1
    is_doubtful = any(_is_doubtful(observed, side, number) for side in Side)
    is_early = scenario not in again and is_hasty(base, change)
    return (differ or is_doubtful or is_early) and is_open(base, change)


def _is_doubtful(observed: tuple[Observed, ...], side: Side, number: int) -> bool:
    heard = [one for one in observed if one.place.side is side and number in one.echoes]
    passed = all(one.runs[number].passed for one in heard)
    return is_unsteady([one.echoes[number] for one in heard], passed=passed)


def _passed(observed: tuple[Observed, ...], side: Side, number: int, scenario: Scenario) -> tuple[bool, ...]:
    return tuple(run.passed for run in _runs(observed, side, number, scenario))


def regressed(lab: Lab, observed: tuple[Observed, ...]) -> set[str]:
    """The names of the scenarios that passed on base and do not on the change."""
    return {
        scenario.name
        for number, scenario in enumerate(lab.scenarios)
        if weigh(*(_passed(observed, side, number, scenario) for side in Side)) is Meaning.REGRESSES
    }


def compare(lab: Lab, observed: tuple[Observed, ...], sources: dict[str, str]) -> tuple[Observation, ...]:
    """What each scenario means, from all runs on both sides."""
    found: list[Observation] = []
    for number, scenario in enumerate(lab.everything):
        base = _runs(observed, Side.BASE, number, scenario)
        change = _runs(observed, Side.CHANGE, number, scenario)
        is_ours = number >= len(lab.scenarios)
        source = HARNESS if is_ours else sources.get(scenario.name, "coordinator_designed")
        script = Script(scenario, f"{lab.seed_of(1)}:{scenario.name}")
        observation = Observation(scenario, base, change, _finding(script, base, change, source))
        if not is_ours or observation.finding.meaning is not Meaning.MISSING:
            found.append(observation)
    stayed = staying(found, lab.departed, lab.late)
    return counting(refusing(heeding(stayed, lab.late), lab.late), lab.late)


def _runs(
    observed: tuple[Observed, ...], side: Side, number: int, scenario: Scenario
) -> tuple[ScenarioRun, ...]:
    unseen = ScenarioRun(scenario.name, (), complete=False, error="the server did not run this scenario")
    return tuple(
        one.runs[number] if number < len(one.runs) else unseen for one in observed if one.place.side is side
    )


def _finding(
    script: Script, base: tuple[ScenarioRun, ...], change: tuple[ScenarioRun, ...], source: str
) -> Finding:
    scenario = script.scenario
    works = all(run.passed for run in change)
    meaning = weigh(tuple(run.passed for run in base), tuple(run.passed for run in change))
    strength = strength_of(change[0], _held(base, meaning), script) if works else Strength(0, 0, ())
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
        strength.overlooked,
        held_out=draws(scenario),
        worked_before=all(any(map(_ended_well, run.steps)) for run in base),
    )


def _ended_well(step: StepRun) -> bool:
    answer = step.exchange.answer
    return step.passed and isinstance(answer, Ended) and answer.status == 0


def _held(base: tuple[ScenarioRun, ...], meaning: Meaning) -> int:
    """Steps that are not tried: what passed on base already proves nothing; the last one tried there may."""
    return min(max(len(run.steps) - 1, 0) for run in base) if meaning is Meaning.PROVES else 0
