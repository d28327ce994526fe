"""A project on this machine: its repository, its tasks, and where work on it happens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path

from harness_executor.clock import Clock, SystemClock, new_id, new_task_id
from harness_executor.config import known_passwords, known_secrets, state_home, work_home
from harness_executor.errors import LogDamaged, UsageError
from harness_executor.kernel.belief import unearned
from harness_executor.kernel.events import TaskOpened
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.task import replay
from harness_executor.redaction import Redactor
from harness_executor.sandbox.process import watched_over
from harness_executor.store.layout import Layout
from harness_executor.store.log import Log, open_log, read_records
from harness_executor.store.memory import Memory
from harness_executor.store.record import Record
from harness_executor.store.seal import Seal
from harness_executor.store.trust import Trust, trust_in
from harness_executor.store.views import publish
from harness_executor.store.witness import Witness
from harness_executor.store.written import Written
from harness_executor.workspace.export import Desk, open_desk, remove
from harness_executor.workspace.repository import Repository, open_repository


@frozen
class Home:
    """A project on this machine, as the harness sees it."""

    repository: Repository
    layout: Layout
    clock: Clock
    seal: Seal
    redactor: Redactor = field(default_factory=Redactor)
    """Takes the user's secrets out of everything that is kept."""

    @property
    def key(self) -> str:
        """A short name for this project, unique on this machine."""
        return self.layout.key

    @property
    def trust(self) -> Trust:
        """What the user granted this project."""
        return trust_in(self.layout)

    @property
    def written(self) -> Written:
        """What `harness init` wrote here."""
        return Written(state_home() / "init" / f"{self.key}.json")

    def witness(self, task_id: str) -> Witness:
        """What this machine has seen of a task's log."""
        return Witness(state_home() / "seen" / self.key / task_id)

    def desk(self, name: str) -> Desk:
        """A place to work outside the project, that nobody else has; who opens it clears it."""
        return open_desk(self.repository, work_home() / self.key / f"{name}.{new_id()[:8]}")

    @contextmanager
    def task_desk(self, task_id: str) -> Iterator[Desk]:
        """The place of a task that is held; when this program is killed, it goes too."""
        for left in (work_home() / self.key).glob(f"{task_id}.*"):
            remove(left)
        desk = self.desk(task_id)
        with watched_over(desk.path):
            yield desk

    @contextmanager
    def hold(self, task_id: str) -> Iterator[Log]:
        """The log of a task, held by this process alone."""
        folder, witness = self.layout.task(task_id), self.witness(task_id)
        with open_log(folder, self.clock, witness, self.redactor) as log:
            yield log

    def records(self, task_id: str) -> tuple[Record, ...]:
        """The records of a task, without holding it; a log that says more than it can know is refused."""
        folder = self.layout.task(task_id)
        if not folder.log.exists():
            raise UsageError(
                f"there is no task {task_id!r} in {self.layout.root}", hint="`harness list` shows the tasks"
            )
        records = read_records(folder, self.witness(task_id))
        problem = unearned(task_id, [record.fact for record in records], self.seal.fits)
        if problem:
            raise LogDamaged(f"{folder.log} {problem}", hint="somebody else wrote there; start the task anew")
        return records

    def open_task(self) -> str:
        """The current task, or the newest one that was not closed; refuses when there is none."""
        current = self.layout.current_id()
        if current:
            return current
        for task_id in reversed(self.layout.task_ids()):
            task = replay(record.fact for record in self.records(task_id))
            if task.opened and not task.closed:
                return task_id
        raise UsageError("no task is open", hint="`harness list` shows the tasks")

    def publish(self, log: Log) -> None:
        """Write the views of a task and, once it is closed, what it taught."""
        publish(self.layout, log.task, read_records(log.folder))
        if log.task.closed:
            Memory(self.layout).remember(log.task, self.clock.now())


def open_home(path: Path) -> Home:
    """The project a path lies in."""
    return home_of(open_repository(path))


def home_of(repository: Repository) -> Home:
    """The project of a repository."""
    Layout(repository.root).refuse_links()
    seal, redactor = Seal(state_home() / "key"), Redactor(known_secrets(), known_passwords())
    return Home(repository, Layout(repository.root), SystemClock(), seal, redactor)


def new_task(home: Home, opened: TaskOpened) -> TaskOpened:
    """The fact that opens a task, with its id, base commit and base tree filled in."""
    opened = _without_secrets(opened, home.redactor)
    base = home.repository.resolve(opened.base_commit or "HEAD")
    task_id = new_task_id(opened.name or opened.request, home.clock.now())
    home.repository.check_branch(f"harness/{task_id}")
    home.layout.prepare()
    return replace(opened, task_id=task_id, base_commit=base, base_tree=home.repository.tree_of(base))


def _without_secrets(opened: TaskOpened, redactor: Redactor) -> TaskOpened:
    """The request without secrets; a start command that holds one could not be kept, and is refused."""
    if any(redactor.clean_work(text) != text for text in (opened.start, opened.start_base)):
        raise UsageError(
            "the start command holds a secret, and would be written down",
            hint="let the server read it from a file outside the project",
        )
    return replace(opened, request=redactor.clean_work(opened.request), name=redactor.clean_work(opened.name))
