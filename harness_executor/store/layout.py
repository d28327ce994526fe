"""Where everything of a project's harness lives."""

from pathlib import Path

from harness_executor.errors import UsageError
from harness_executor.kernel.canonical import digest
from harness_executor.kernel.frozen import frozen

IGNORED = """\
# Runtime state of harness_executor. Commit config.toml, environment.json and scenarios/ if you like.
/tasks/
/trace/
/memory/
/sessions/
/.gitignore
"""
_ELSEWHERE = "`mkdir .harness`: where there is such a folder, it is used instead"


@frozen
class TaskFolder:
    """The folder of one task."""

    path: Path

    @property
    def log(self) -> Path:
        """The event log: the only truth."""
        return self.path / "events.jsonl"

    @property
    def lock(self) -> Path:
        """The lock of the one writer."""
        return self.path / ".lock"

    @property
    def holder(self) -> Path:
        """Who holds the lock, for people."""
        return self.path / ".holder"

    @property
    def state(self) -> Path:
        """The views task.json, context.json and result.json."""
        return self.path / "state"

    @property
    def checkpoints(self) -> Path:
        """One view per finished phase."""
        return self.path / "checkpoints"

    @property
    def evidence(self) -> Path:
        """Raw exchanges and server logs of every verification."""
        return self.path / "evidence"

    @property
    def calls(self) -> Path:
        """Recordings of the model calls."""
        return self.path / "calls"


@frozen
class Layout:
    """The harness folder of a project."""

    root: Path
    """The project."""

    @property
    def key(self) -> str:
        """A short name for the project, unique on this machine."""
        return digest(str(self.root))[:12]

    @property
    def harness(self) -> Path:
        """The state root: `.harness` where a project already has one, else `harness`."""
        hidden = self.root / ".harness"
        return hidden if hidden.is_dir() else self.root / "harness"

    @property
    def ignore(self) -> Path:
        """What hides state from the project's own git."""
        return self.harness / ".gitignore"

    @property
    def tasks(self) -> Path:
        """All task folders."""
        return self.harness / "tasks"

    @property
    def current(self) -> Path:
        """A link to the task last opened and not yet closed."""
        return self.tasks / "current"

    @property
    def report(self) -> Path:
        """The report of the last verification; a view."""
        return self.harness / "trace" / "verification-report.json"

    @property
    def runs(self) -> Path:
        """Exchanges of verifications that belong to no task."""
        return self.harness / "trace" / "runs"

    @property
    def failures(self) -> Path:
        """Failure events, one file a day."""
        return self.harness / "trace" / "failures"

    @property
    def episodes(self) -> Path:
        """What tasks taught, one file a day."""
        return self.harness / "memory" / "episodes"

    def task(self, task_id: str) -> TaskFolder:
        """The folder of a task; an id that could leave the tasks folder is refused."""
        if not _is_task_id(task_id):
            raise UsageError(f"{task_id!r} is not a task id", hint="`harness list` shows the tasks")
        return TaskFolder(self.tasks / task_id)

    def task_ids(self) -> list[str]:
        """Every task that has a log, the one written to last at the end."""
        if not self.tasks.is_dir():
            return []
        folders = [path for path in self.tasks.iterdir() if path.is_dir() and not path.is_symlink()]
        logged = [path for path in folders if (path / "events.jsonl").exists()]
        return [
            path.name for path in sorted(logged, key=lambda path: (path / "events.jsonl").stat().st_ctime_ns)
        ]

    def current_id(self) -> str | None:
        """The task that `current` points to, if it is there."""
        if not self.current.is_symlink():
            return None
        name = self.current.readlink().name
        return name if _is_task_id(name) and self.task(name).log.exists() else None

    def refuse_links(self) -> None:
        """Refuse state that leads elsewhere or cannot be kept: a repository could have put that there."""
        folders = (self.harness, *(self.harness / part for part in ("tasks", "trace", "memory", "sessions")))
        for place in (*folders, self.ignore):
            if place.is_symlink():
                raise UsageError(
                    f"{place} is a link, and state is written only in the project itself",
                    hint=f"look where it leads, then `rm {place}`",
                )
            kind = "folder" if place in folders else "file"
            if place.exists() and place.is_dir() != (kind == "folder"):
                raise UsageError(
                    f"{place} is no {kind}, and the harness needs one there",
                    hint=_ELSEWHERE if place == self.harness else f"look at it, then move {place} away",
                )

    def prepare(self) -> None:
        """Make the state folders, hidden from the project's own git."""
        self.refuse_links()
        self.tasks.mkdir(parents=True, exist_ok=True)
        if not self.ignore.exists():
            self.ignore.write_text(IGNORED)


def _is_task_id(text: str) -> bool:
    return text not in ("", ".", "..", "current") and "/" not in text and "\0" not in text
