"""One verification from start to end: export both sides, observe them, bind what was seen."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from harness_executor import faults
from harness_executor.clock import Clock, new_id
from harness_executor.evidence.differential import RUNS, Lab, Observed, Place, compare, observe
from harness_executor.kernel.canonical import digest
from harness_executor.kernel.control import control_files
from harness_executor.kernel.report import Evidence, Observation, Side, explain
from harness_executor.kernel.scenario import Scenario, scenarios_digest
from harness_executor.redaction import Redactor
from harness_executor.sandbox.base import Sandbox
from harness_executor.store.cleaning import clean_value
from harness_executor.store.files import write_atomically
from harness_executor.workspace.export import Desk
from harness_executor.workspace.project import Start


@dataclass(frozen=True)
class Question:
    """What is to be verified."""

    task_id: str
    base_commit: str
    base_tree: str
    tree: str
    scenarios: tuple[Scenario, ...]
    start: Start
    source: str = "coordinator_designed"


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class SideSummary:
    """The exchanges of one server, as they were written down."""

    side: Side
    run: int
    exchanges: int
    digest: str
    ready_in_seconds: float
    redacted: int = 0


@dataclass(frozen=True)
class Examination:
    """The outcome: evidence that still wants its seal, and what people read."""

    evidence: Evidence
    observations: tuple[Observation, ...]
    sides: tuple[SideSummary, ...]
    tails: tuple[tuple[str, str], ...]


def examine(question: Question, examiner: Examiner) -> Examination:
    """Run every scenario on base and change; a base that cannot run is an error, not a finding."""
    run_id = new_id()
    folder = examiner.folder / run_id
    folder.mkdir(parents=True, exist_ok=True)
    lab = Lab(examiner.sandbox, examiner.clock, question.start, question.scenarios, new_id(), examiner.notify)
    observed = observe(lab, _places(question, examiner))
    sides = tuple(_write_down(one, folder, examiner.redactor) for one in observed)
    _raise_for_base(observed)
    faults.point("evidence.written")
    views = compare(lab, observed, {scenario.name: question.source for scenario in question.scenarios})
    clean = examiner.redactor.clean
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
        servers=tuple(one.record for one in observed),
        findings=tuple(view.finding for view in views),
        control=control_files(*examiner.desk.names(question.base_tree, question.tree)),
    )
    tails = tuple((f"{one.place.side.value} server {one.place.run}", clean(one.tail)) for one in observed)
    return Examination(clean_value(evidence, clean), views, sides, tails)


def complaints(examination: Examination) -> tuple[str, ...]:
    """What has to be mended, in words an executor can act on."""
    said = [
        f"the server does not start on your change: {server.detail}"
        for server in examination.evidence.servers
        if server.side is Side.CHANGE and not server.started
    ][:1]
    for view in examination.observations:
        if view.finding.meaning.value in ("regresses", "missing"):
            failing = next((run for run in view.change if not run.passed), None)
            said.append(
                f"{view.finding.meaning.value}: {view.scenario.name}: {explain(failing) if failing else ''}"
            )
    return tuple(said)


def server_log(examination: Examination) -> str:
    """The end of the change's server log."""
    return next((tail for name, tail in examination.tails if name.startswith("change") and tail), "")


def _places(question: Question, examiner: Examiner) -> tuple[Place, ...]:
    """Where each server runs; its output is kept only once the secrets are out of it."""
    place = examiner.desk.path / "verify"
    places: list[Place] = []
    for side, tree in ((Side.BASE, question.base_tree), (Side.CHANGE, question.tree)):
        for run in range(1, RUNS + 1):
            name = f"{side.value}-{run}"
            log = place / f"{name}.log"
            log.unlink(missing_ok=True)
            exported = examiner.desk.export(tree, place / name)
            room = examiner.desk.room(exported, old=question.base_tree, new=question.tree)
            places.append(Place(side, run, room, log))
    return tuple(places)


def _raise_for_base(observed: tuple[Observed, ...]) -> None:
    for one in observed:
        if one.problem is not None and one.place.side is Side.BASE:
            problem = one.problem
            raise type(problem)(f"on base: {problem.message}", hint=problem.hint) from problem


def _write_down(one: Observed, folder: Path, redactor: Redactor) -> SideSummary:
    before = redactor.count
    seen = [asdict(step.exchange) for run in one.runs for step in run.steps]
    exchanges = redactor.clean_data(seen)
    log = one.place.log
    said = log.read_bytes() if log.is_file() and not log.is_symlink() else b""
    output = redactor.clean(said.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    name = f"{one.place.side.value}-{one.place.run}"
    write_atomically(folder / f"{name}.jsonl", "".join(json.dumps(exchange) + "\n" for exchange in exchanges))
    write_atomically(folder / f"{name}.log", output)
    return SideSummary(
        one.place.side,
        one.place.run,
        len(exchanges),
        digest(exchanges),
        one.record.ready_in_seconds,
        redactor.count - before,
    )
