"""What a step works with."""

import re
import shutil
from collections.abc import Callable, Generator, Iterator
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TypeVar

from harness_executor.clock import Clock, new_id
from harness_executor.config import Settings
from harness_executor.errors import AgentError
from harness_executor.evidence.knowing import Knower, Words, know, own_start
from harness_executor.evidence.workbench import bench_over
from harness_executor.kernel.amending import Shortfall
from harness_executor.kernel.events import AgentAsked, Fact, Mode
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.retries import Policy
from harness_executor.kernel.scenario import Scenario
from harness_executor.kernel.secrecy import is_secret
from harness_executor.kernel.task import Task
from harness_executor.providers.registry import split
from harness_executor.redaction import Redactor
from harness_executor.sandbox.base import Sandbox
from harness_executor.sandbox.choice import NONE, Boxing
from harness_executor.steps.treasury import Treasury, longest_answer, window
from harness_executor.store.cleaning import clean_value
from harness_executor.store.layout import Layout
from harness_executor.store.log import read_task
from harness_executor.store.memory import Memory
from harness_executor.store.seal import Seal
from harness_executor.store.written import Written
from harness_executor.subagents.jobs import Answering, Beat, Job, Role, Spent, Stumbled, Wants
from harness_executor.subagents.replies import (
    AdditionsReply,
    PlanReply,
    ReviewReply,
    RulingsReply,
    ScenariosReply,
    WorkReply,
)
from harness_executor.subagents.spawn import Agents, Work
from harness_executor.workspace.export import Desk
from harness_executor.workspace.project import Project, Start, environment_file, read_project
from harness_executor.workspace.surveying import runnable

_RECORD = re.compile(r"[0-9a-f]{64}\.json")
Notify = Callable[[str], None]
R = TypeVar("R", PlanReply, ScenariosReply, WorkReply, ReviewReply, RulingsReply, AdditionsReply)


@frozen
class Means:
    """Everything outside the kernel that a step may use."""

    layout: Layout
    desk: Desk
    sandbox: Sandbox
    clock: Clock
    agents: Agents
    memory: Memory
    seal: Seal
    treasury: Treasury
    settings: Settings
    policy: Policy
    notify: Notify
    redactor: Redactor
    boxing: Boxing = field(default_factory=Boxing)
    """How the commands of subagents are boxed."""
    written: Written | None = None
    """What `harness init` wrote here."""
    known: dict[str, Project] = field(default_factory=dict)
    """What was found out of the project of each task, once."""

    def base(self, task: Task) -> Path:
        """The base, exported once for reading, without files that look like secrets."""
        target = self.desk.path / "base"
        return target if target.is_dir() else self.desk.export(task.base_tree, target, without=self.hides)

    def hides(self, path: str) -> bool:
        """Is a file kept back from models?"""
        return is_secret(path, self.settings.secrets)

    def project(self, task: Task) -> Project:
        """The commands of the project as the base has them; the change cannot alter them."""
        if task.id not in self.known:
            self.known[task.id] = self._found_out(task)
        return self.known[task.id]

    def _found_out(self, task: Task) -> Project:
        start, base_start = (task.opened.start, task.opened.start_base) if task.opened else ("", "")
        if start or self.written is None or environment_file(self.base(task)) or not _is_to_start(task):
            return read_project(self.base(task), start=start, base_start=base_start)
        whole = self.desk.export(task.base_tree, self.desk.path / "whole-base")
        return know(whole, self._knower(task, self.written), Words(base_start=base_start))

    def own_start(self, task: Task) -> Start | None:
        """How base is started by itself, where the user gave a command."""
        if task.opened is None or not task.opened.start or self.written is None:
            return None
        whole = self.desk.export(task.base_tree, self.desk.path / "whole-base")
        return own_start(whole, self._knower(task, self.written))

    def _knower(self, task: Task, written: Written) -> Knower:
        bench = partial(bench_over, self.desk, task.base_tree, self.sandbox, self.clock, self.notify)
        return Knower(self.layout.root, written, bench, addresses=self.settings.addresses)

    def is_idle(self, task: Task) -> bool:
        """Is there nothing in the base that could be run: no server, no program, no library, no test?"""
        return not runnable(self.desk, (task.base_tree,), self.project(task))

    def start(self, task: Task) -> Start:
        """What scenarios are carried out on; refuses when that is a server and nobody said how it starts."""
        project = self.project(task)
        return project.start_for(server=any(one.needs_server for one in task.scenarios) or project.has_server)

    def model(self, task: Task, role: Role) -> str:
        """The model that plays a role in this task."""
        chosen = task.opened.models if task.opened else {}
        return chosen.get(role.value) or chosen.get("default") or self.settings.model(role.value)

    def keep_recording(self, task: Task, job: Job, name: str) -> None:
        """Move the recording of a call from the subagent's folder to the task's."""
        if not name:
            return
        if not _RECORD.fullmatch(name):
            raise AgentError(f"the {job.role.value} named a recording {name!r}")
        made, kept = Path(job.scratch) / "calls" / name, self.layout.task(task.id).calls / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        half = kept.with_name(f".{name}")
        shutil.move(made, half)
        half.replace(kept)

    def played(self, model: str, role: Role) -> str:
        """The model that a role really had: that of the recorded task, where one is played again."""
        provider, name = split(model)
        if provider != "replay":
            return model
        opened = read_task(self.layout.task(name)).opened
        models = opened.models if opened else {}
        return models.get(role.value) or models.get("default", "")


def _is_to_start(task: Task) -> bool:
    return task.opened is not None and task.opened.mode is Mode.IMPLEMENT


@frozen
class Ask:
    """What a subagent is asked for."""

    role: Role
    answering: Answering
    prompt: str
    root: Path
    may_write: bool = False
    check: str = ""
    sources: tuple[str, ...] = ()
    """Texts the answer may quote."""
    frozen: tuple[Scenario, ...] = ()
    missed: tuple[Shortfall, ...] = ()
    """What rulings are about."""


def ask(task: Task, means: Means, wanted: Ask, kind: type[R]) -> Generator[Fact, None, R]:
    """Have a subagent work: the facts of it as they happen, and its result."""
    job = _job(task, means, wanted)
    yield AgentAsked(job.id, job.role.value, job.model, means.sandbox.assurance)
    with means.agents.work(job) as work:
        for message in work:
            if isinstance(message, kind):
                return _cleaned(message, means.redactor)
            yield from _attend(task, means, work, message)
    raise AgentError(f"the {job.role.value} did not answer with a {kind.__name__}")


def _cleaned(result: R, redactor: Redactor) -> R:
    """A result without secrets; one that is worked by keeps the tokens that a test makes up."""
    is_work = isinstance(result, PlanReply | ScenariosReply | RulingsReply | AdditionsReply)
    return clean_value(result, redactor.clean_work if is_work else redactor.clean)


def _attend(task: Task, means: Means, work: Work, message: object) -> Iterator[Fact]:
    """Write down what a subagent says before it is answered."""
    job, treasury = work.job, means.treasury
    match message:
        case Wants():
            yield treasury.reserve(job.id, job.model, message)
            work.grant(message.call)
        case Spent():
            means.keep_recording(task, job, message.record)
            yield treasury.settle(job.id, job.model, message)
            for letter in treasury.alerts(job.id):
                work.tell(letter)
        case Stumbled():
            if message.wait:
                means.notify(f"{job.role.value}: {message.why}; again in {message.wait:.0f} s")
            yield treasury.stumbled(job.id, job.model, message)
        case Beat(turn, doing):
            means.notify(f"{job.role.value}, turn {turn}: {doing}")


def _job(task: Task, means: Means, wanted: Ask) -> Job:
    scratch = means.desk.path / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    model = means.model(task, wanted.role)
    service = means.settings.services.get(split(model)[0])
    width = window(means.played(model, wanted.role), service)
    room = means.desk.room(wanted.root, old=task.base_tree, new=task.tree)
    return Job(
        id=new_id()[:12],
        role=wanted.role,
        answering=wanted.answering,
        model=model,
        prompt=means.redactor.clean_work(wanted.prompt),
        root=str(wanted.root),
        scratch=str(scratch),
        at=str(room.at) if means.boxing.kind != NONE else "",
        beside={name: str(folder) for name, folder in room.beside.items()},
        copied=tuple(room.copied),
        imports=room.imports,
        linked=room.linked,
        boxing=means.boxing,
        may_write=wanted.may_write,
        check=wanted.check,
        sources=wanted.sources,
        frozen=wanted.frozen,
        missed=wanted.missed,
        self_fix=means.policy.self_fix,
        max_tokens=longest_answer(width),
        window=width,
        seconds=means.treasury.seconds_left(1800.0),
        call_seconds=means.settings.budget.call.seconds,
        patience=means.treasury.patience(model),
        service=service,
        recording=str(means.layout.task(split(model)[1]).calls) if split(model)[0] == "replay" else "",
        secrets=means.redactor.values,
    )
