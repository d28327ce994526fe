"""The composition root: builds the objects of a run and binds them together."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from harness_executor import faults
from harness_executor.clock import Clock, SystemClock, new_task_id
from harness_executor.config import Settings, state_home, work_home
from harness_executor.coordinator import Coordinator
from harness_executor.errors import UsageError
from harness_executor.kernel.canonical import digest
from harness_executor.kernel.events import Fact, StepName, TaskOpened, TaskResumed
from harness_executor.kernel.policy import Policy
from harness_executor.kernel.task import Task
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.steps import execute, plan, present, record, review, setup, validate, verify
from harness_executor.steps.means import Means, Notify
from harness_executor.store.layout import Layout, TaskFolder
from harness_executor.store.log import Log, open_log, read_records
from harness_executor.store.memory import Memory
from harness_executor.store.record import Record
from harness_executor.store.seal import Seal
from harness_executor.store.views import publish
from harness_executor.store.witness import Witness
from harness_executor.subagents.spawn import Agents
from harness_executor.workspace.export import Desk, open_desk
from harness_executor.workspace.repository import Repository, open_repository

STEPS = {
    StepName.SETUP: setup.run,
    StepName.PLAN: plan.run,
    StepName.EXECUTE: execute.run,
    StepName.VALIDATE: validate.run,
    StepName.VERIFY: verify.run,
    StepName.REVIEW: review.run,
    StepName.RECORD: record.run,
    StepName.PRESENT: present.run,
}


class Audience(Protocol):
    """Who is told what happens while it happens."""

    def fact(self, fact: Fact) -> None:
        """Something was written down."""
        ...

    def note(self, text: str) -> None:
        """Something is being done."""
        ...


@dataclass(frozen=True)
class Home:
    """A project on this machine, as the harness sees it."""

    repository: Repository
    layout: Layout
    clock: Clock
    seal: Seal

    @property
    def key(self) -> str:
        """A short name for this project, unique on this machine."""
        return digest(str(self.repository.root))[:12]

    def witness(self, task_id: str) -> Witness:
        """What this machine has seen of a task's log."""
        return Witness(state_home() / "seen" / self.key / task_id)

    def desk(self, name: str) -> Desk:
        """A place to work outside the project."""
        return open_desk(self.repository, work_home() / self.key / name)

    @contextmanager
    def hold(self, task_id: str) -> Iterator[Log]:
        """The log of a task, held by this process alone."""
        with open_log(self.layout.task(task_id), self.clock, self.witness(task_id)) as log:
            yield log

    def records(self, task_id: str) -> tuple[Record, ...]:
        """The records of a task, without holding it."""
        folder = self.layout.task(task_id)
        if not folder.log.exists():
            raise UsageError(
                f"there is no task {task_id!r} in {self.layout.root}", hint="`harness list` shows the tasks"
            )
        return read_records(folder, self.witness(task_id))

    def publish(self, log: Log) -> None:
        """Write the views of a task and, once it is closed, what it taught."""
        publish(self.layout, log.task, read_records(log.folder))
        if log.task.closed:
            Memory(self.layout).remember(log.task, self.clock.now())


def open_home(path: Path) -> Home:
    """The project a path lies in."""
    repository = open_repository(path)
    return Home(repository, Layout(repository.root), SystemClock(), Seal(state_home() / "key"))


def new_task(home: Home, opened: TaskOpened) -> TaskOpened:
    """The fact that opens a task, with its id, base commit and base tree filled in."""
    base = home.repository.resolve(opened.base_commit or "HEAD")
    task_id = new_task_id(opened.name or opened.request, home.clock.now())
    home.repository.check_branch(f"harness/{task_id}")
    home.layout.prepare()
    return replace(opened, task_id=task_id, base_commit=base, base_tree=home.repository.tree_of(base))


@dataclass(frozen=True)
class Run:
    """How a task is run: the user's settings, and who is told."""

    home: Home
    settings: Settings
    audience: Audience

    def begin(self, opened: TaskOpened) -> Task:
        """Open a task and run it."""
        with self.home.hold(opened.task_id) as log:
            log.append(opened)
            return self._go(log)

    def resume(self, task_id: str) -> Task:
        """Go on with a task where its log ends."""
        self.home.records(task_id)
        with self.home.hold(task_id) as log:
            if log.task.paused:
                log.append(TaskResumed("user"))
            return self._go(log)

    def _go(self, log: Log) -> Task:
        desk = self.home.desk(log.task.id)
        means = self._means(desk, self.audience.note)
        steps = {name: partial(run, means=means) for name, run in STEPS.items()}
        publishing: Callable[[Task], None] = lambda _task: self.home.publish(log)  # noqa: E731 - one line of glue
        task = Coordinator(log, steps, means.policy, self.audience.fact, publishing).run()
        if task.closed:
            desk.clear()
            faults.point("desk.cleared")
        return task

    def _means(self, desk: Desk, notify: Notify) -> Means:
        return Means(
            layout=self.home.layout,
            desk=desk,
            sandbox=PlainSandbox(),
            clock=self.home.clock,
            agents=Agents(self.home.clock),
            memory=Memory(self.home.layout),
            seal=self.home.seal,
            settings=self.settings,
            policy=_policy(self.settings),
            notify=notify,
        )


def _policy(settings: Settings) -> Policy:
    default = Policy()
    lower = {name: min(value, getattr(default, name)) for name, value in settings.caps.items()}
    return replace(default, **lower)


def task_folders(home: Home) -> list[TaskFolder]:
    """Every task of a project, oldest first."""
    return [home.layout.task(task_id) for task_id in home.layout.task_ids()]
