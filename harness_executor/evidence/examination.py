"""One verification from start to end: export both sides, observe them, bind what was seen."""

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, field, replace
from functools import partial
from pathlib import Path

from harness_executor import faults
from harness_executor.clock import Clock, new_id
from harness_executor.errors import PackagesMissing, ServerExited
from harness_executor.evidence.confirming import Trial, confirmed, views_of
from harness_executor.evidence.controls import controls_for
from harness_executor.evidence.departing import departures
from harness_executor.evidence.differential import RUNS, Lab, Observed, Place, observe, settle
from harness_executor.evidence.owning import on_own_terms
from harness_executor.evidence.preparation import Crew, Job, Prepared, Workshop, prepare
from harness_executor.evidence.services.running import wanted
from harness_executor.evidence.watch import Span, Watch
from harness_executor.kernel.amending import CAPTURE, Shortfall
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.canonical import digest
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.control import control_files
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import (
    PREDEFINED,
    Evidence,
    Meaning,
    Observation,
    ScenarioRun,
    ServerRecord,
    Side,
    YardRecord,
    explain,
)
from harness_executor.kernel.scenario import Scenario, scenarios_digest
from harness_executor.redaction import Redactor
from harness_executor.sandbox.base import Sandbox
from harness_executor.store.cleaning import clean_value
from harness_executor.store.files import write_atomically
from harness_executor.workspace.export import Desk
from harness_executor.workspace.project import Start

_OWN = "where only the change takes this command, --start-base CMD says how the old code is started"


@frozen
class Question:
    """What is to be verified."""

    task_id: str
    base_commit: str
    base_tree: str
    tree: str
    scenarios: tuple[Scenario, ...]
    start: Start
    source: str = "coordinator_designed"
    suite: tuple[Scenario, ...] = ()
    """Scenarios the project keeps; they are run after the others."""
    retired: Mapping[str, str] = field(default_factory=dict)
    """Those that the change keeps no more, with the words that allow it."""
    late: tuple[str, ...] = ()
    """Scenarios that were written when the change was there."""
    fuzz: bool = False
    """Are requests drawn from an OpenAPI document sent as well?"""
    otherwise: Callable[[], Start | None] = lambda: None
    """How base is started by itself; asked for only if it dies on the command that was given."""


@frozen
class Examiner:
    """Who verifies, and where."""

    desk: Desk
    sandbox: Sandbox
    clock: Clock
    folder: Path
    """Where exchanges and server logs are kept."""
    notify: Callable[[str], None]
    tree_now: Callable[[], str]
    """The tree as it is at the end, to see that it did not move."""
    redactor: Redactor = field(default_factory=Redactor)
    """Takes the secrets out of what is kept; what is compared is as it was."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Where the user has services, by their names; others are thrown away."""


@frozen
class SideSummary:
    """The exchanges of one server, as they were written down."""

    side: Side
    run: int
    exchanges: int
    digest: str
    ready_in_seconds: float
    redacted: int = 0


@frozen
class About:
    """What the verification was part of."""

    request: str = ""
    """What was asked for, in the user's words."""
    checks: tuple[CheckResult, ...] = ()
    folder: Path | None = None
    """Where its files are."""
    began: str = ""
    spans: tuple[Span, ...] = ()


@frozen
class Examination:
    """The outcome: evidence that still wants its seal, and what people read."""

    evidence: Evidence
    observations: tuple[Observation, ...]
    sides: tuple[SideSummary, ...]
    tails: tuple[tuple[str, str], ...]
    about: About = field(default_factory=About)


def examine(question: Question, examiner: Examiner) -> Examination:
    """Run every scenario on base and change; a base that cannot run is an error, not a finding."""
    run_id, watch = new_id(), Watch(examiner.clock)
    folder = examiner.folder / run_id
    folder.mkdir(parents=True, exist_ok=True)
    lab = _lab(question, examiner)
    with _logs_kept(examiner, folder):
        places = _places(question, examiner, lab)
        watch.note("export of both trees")
        lab = _with_controls(lab, question, places)
        trials = _trials(question, examiner, lab, places)
    observed = tuple(one for trial in trials for one in trial.observed)
    watch.see(observed)
    sides = tuple(_write_down(one, folder, examiner.redactor) for one in observed)
    _raise_for_sides(observed)
    faults.point("evidence.written")
    drawn = _drawn(question, examiner, trials[0].lab, observed)
    watch.skip()
    seen = (*views_of(trials, _sources(question)), *drawn)
    views = tuple(_titled(_allowed(view, question), examiner.redactor) for view in seen)
    evidence = Evidence(
        run_id=run_id,
        task_id=question.task_id,
        base_commit=question.base_commit,
        base_tree=question.base_tree,
        tree=question.tree,
        tree_after=examiner.tree_now(),
        scenario_digest=scenarios_digest(question.scenarios),
        exchange_digest=digest([side.digest for side in sides]),
        assurance=examiner.sandbox.assurance,
        servers=tuple(one.record for one in observed if isinstance(one.record, ServerRecord)),
        yards=tuple(one.record for one in observed if isinstance(one.record, YardRecord)),
        launches=trials[0].lab.launches,
        findings=tuple(view.finding for view in views),
        control=control_files(*examiner.desk.names(question.base_tree, question.tree)),
    )
    tails = tuple(_tail(one, examiner.redactor) for one in observed)
    watch.note("comparison and broken answers")
    about = About(folder=folder, began=watch.at, spans=tuple(watch.spans))
    return Examination(clean_value(evidence, examiner.redactor.clean), views, sides, tails, about)


def _allowed(view: Observation, question: Question) -> Observation:
    """The same with the words that allow that it is lost, if the project kept it."""
    is_lost = view.finding.source == PREDEFINED and view.finding.meaning is Meaning.REGRESSES
    words = question.retired.get(view.finding.name, "") if is_lost else ""
    return replace(view, finding=replace(view.finding, allowed=words))


def _titled(view: Observation, redactor: Redactor) -> Observation:
    """The same with a name as scenarios are frozen under: without known secrets."""
    return replace(view, finding=replace(view.finding, name=redactor.clean_work(view.finding.name)))


def _tail(one: Observed, redactor: Redactor) -> tuple[str, str]:
    return f"{one.place.side.value} server {one.place.run}", redactor.clean_output(one.tail)


def _trials(question: Question, examiner: Examiner, lab: Lab, places: tuple[Place, ...]) -> tuple[Trial, ...]:
    def of_base(own: Lab) -> tuple[Place, ...]:
        return _places(question, examiner, own, sides=(Side.BASE,))

    trial = Trial(*on_own_terms(lab, observe(lab, places), question.otherwise, of_base))
    if not trial.is_sound:
        return (trial,)
    more = partial(_places, question, examiner, trial.lab)
    again = question.suite if question.scenarios else ()
    settled = settle(trial.lab, trial.observed, more, again)
    return confirmed(Trial(trial.lab, settled), question.suite, more)


def _drawn(
    question: Question, examiner: Examiner, lab: Lab, observed: tuple[Observed, ...]
) -> tuple[Observation, ...]:
    """What drawn requests show, if they are wanted and there are servers to be asked."""
    if not question.fuzz or not lab.needs_server or any(one.problem for one in observed):
        return ()
    from harness_executor.evidence.fuzzing import fuzz  # noqa: PLC0415 - few ask for it

    first = max(one.place.run for one in observed) + 1
    return fuzz(lab, _places(question, examiner, lab, first), examiner.desk.path / "fuzz")


def _sources(question: Question) -> dict[str, str]:
    own = {scenario.name: question.source for scenario in question.scenarios}
    return {**{scenario.name: PREDEFINED for scenario in question.suite}, **own}


def complaints(examination: Examination) -> tuple[str, ...]:
    """What has to be mended, in words an executor can act on."""
    said = [
        f"the server does not start on your change: {server.detail}"
        for server in examination.evidence.servers
        if server.side is Side.CHANGE and not server.started
    ][:1]
    for view in examination.observations:
        if view.finding.is_against:
            failing = next((run for run in view.change if not run.passed), None)
            said.append(
                f"{view.finding.meaning.value}: {view.scenario.name}: {explain(failing) if failing else ''}"
            )
    return tuple(said)


def shortfalls(examination: Examination) -> tuple[Shortfall, ...]:
    """Where scenarios failed on the change as they did on base."""
    views = [view for view in examination.observations if view.finding.is_against]
    missing = [view for view in views if view.finding.meaning is Meaning.MISSING]
    runs = [(view, next((run for run in view.change if not run.passed), None)) for view in missing]
    return tuple(_shortfall(view.scenario.name, run) for view, run in runs if run)


def _shortfall(name: str, run: ScenarioRun) -> Shortfall:
    at = next((number for number, step in enumerate(run.steps) if not step.passed), len(run.steps))
    failed = [check.type for step in run.steps[at:] for check in step.assertions if not check.passed]
    if run.lacks_capture:
        at, failed = len(run.steps) - 1, [CAPTURE]
    return Shortfall(name, at, tuple(failed), explain(run))


def server_log(examination: Examination) -> str:
    """The end of the change's server log."""
    return next((tail for name, tail in examination.tails if name.startswith("change") and tail), "")


def _lab(question: Question, examiner: Examiner) -> Lab:
    start = question.start
    found = wanted(start.services, examiner.desk.repository.root, examiner.addresses)
    for one in found:
        if one.outside:
            examiner.notify(f"{one.service.name}: both sides share the data at the address that was given")
    means = (
        examiner.sandbox,
        examiner.clock,
        start,
        (*question.scenarios, *question.suite),
        new_id(),
        examiner.notify,
    )
    return Lab(*means, wanted=found, late=question.late, serves=question.fuzz)


def _places(
    question: Question, examiner: Examiner, lab: Lab, first: int = 1, *, sides: tuple[Side, ...] = tuple(Side)
) -> tuple[Place, ...]:
    """Where each server runs; its output is kept only once the secrets are out of it."""
    scratch = examiner.desk.path / "verify"
    crew = Crew(examiner.sandbox, examiner.clock, lab.start, scratch, lab.wanted, lab.port)
    workshop = Workshop(examiner.desk, crew, examiner.notify, RUNS)
    trees = {Side.BASE: question.base_tree, Side.CHANGE: question.tree}
    jobs = [Job(side, trees[side], question.base_tree, question.tree, first) for side in sides]
    at_once = examiner.sandbox.assurance is Assurance.SANDBOXED and not lab.is_shared
    with ThreadPoolExecutor(len(jobs) if at_once else 1) as pool:
        done = list(pool.map(lambda job: prepare(job, workshop), jobs))
    return tuple(
        _place(job, run, prepared, workshop)
        for job, prepared in zip(jobs, done, strict=True)
        for run in range(first, first + RUNS)
    )


def _place(job: Job, run: int, prepared: Prepared, workshop: Workshop) -> Place:
    log = job.folder(workshop, run).with_suffix(".log")
    log.unlink(missing_ok=True)
    told = (prepared.problem, prepared.note, prepared.is_cut_off)
    return Place(job.side, run, prepared.rooms[run - job.first], log, *told)


def _with_controls(lab: Lab, question: Question, places: tuple[Place, ...]) -> Lab:
    trees = [next(place.room.tree for place in places if place.side is side) for side in Side]
    folder = question.start.working_dir
    return replace(
        lab,
        controls=controls_for(question.scenarios, trees[0], folder),
        departed=departures(question.scenarios, trees[0], trees[1], folder),
    )


def _raise_for_sides(observed: tuple[Observed, ...]) -> None:
    for one in observed:
        if one.place.side is Side.CHANGE and isinstance(one.problem, PackagesMissing):
            raise PackagesMissing(f"on the change: {one.problem.message}", hint=one.problem.hint)
        if one.problem is not None and one.place.side is Side.BASE:
            problem = one.problem
            is_about_start = isinstance(problem, ServerExited) and one.place.problem is None
            hint = f"{problem.hint}; {_OWN}" if is_about_start else problem.hint
            raise type(problem)(f"on base: {problem.message}", hint=hint) from problem


@contextmanager
def _logs_kept(examiner: Examiner, folder: Path) -> Iterator[None]:
    """Whatever happens, what services and steps said is with the evidence, without the secrets."""
    scratch, pattern = examiner.desk.path / "verify", "*-[0-9]*-*.log"
    for log in scratch.glob(pattern):
        log.unlink()
    try:
        yield
    finally:
        for log in scratch.glob(pattern):
            said = log.read_bytes() if log.is_file() and not log.is_symlink() else b""
            output = examiner.redactor.clean_output(said.decode(errors="surrogateescape"))
            write_atomically(folder / log.name, output.encode(errors="surrogateescape"))


def _write_down(one: Observed, folder: Path, redactor: Redactor) -> SideSummary:
    before = redactor.count
    seen = [asdict(step.exchange) for run in one.runs for step in run.steps]
    exchanges = redactor.clean_data(seen)
    log = one.place.log
    said = log.read_bytes() if log.is_file() and not log.is_symlink() else b""
    output = redactor.clean_output(said.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    name = f"{one.place.side.value}-{one.place.run}"
    write_atomically(folder / f"{name}.jsonl", "".join(json.dumps(exchange) + "\n" for exchange in exchanges))
    write_atomically(folder / f"{name}.log", output)
    return SideSummary(
        one.place.side,
        one.place.run,
        len(exchanges),
        digest(exchanges),
        one.record.ready_in_seconds if isinstance(one.record, ServerRecord) else 0.0,
        redactor.count - before,
    )
