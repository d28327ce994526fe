"""A task folder of its own for each test, and logs made by hand."""

import subprocess
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from harness_executor.kernel import events as e
from harness_executor.kernel.canonical import canonical, digest
from harness_executor.kernel.events import Fact
from harness_executor.store.layout import Layout, TaskFolder
from harness_executor.store.log import Log, open_log, read_records
from harness_executor.store.record import GENESIS, Record
from harness_executor.store.witness import Witness

ROOT = Path(__file__).parents[2]
OPENED = e.TaskOpened("task", "count the items", e.Mode.IMPLEMENT, e.Driver.RUNNER, "b" * 40, "1" * 40)


class Ticking:
    """A clock that goes on by one second whenever it is looked at."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        """Wall time, for labels."""
        self.time += timedelta(seconds=1)
        return self.time

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return self.now().timestamp()

    def sleep(self, seconds: float) -> None:
        """Wait, at no cost."""
        self.time += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Place:
    """A project, the folder of its one task, and what this machine has seen of it."""

    root: Path

    @property
    def layout(self) -> Layout:
        """The project's layout."""
        return Layout(self.root / "project")

    @property
    def folder(self) -> TaskFolder:
        """The folder of the task."""
        return self.layout.task("task")

    @property
    def witness(self) -> Witness:
        """What this machine has seen."""
        return Witness(self.root / "seen" / "task")

    def open(self) -> AbstractContextManager[Log]:
        """Hold the log."""
        return open_log(self.folder, Ticking(), self.witness)

    def records(self) -> tuple[Record, ...]:
        """The records, as a reader sees them."""
        return read_records(self.folder, self.witness)

    def facts(self) -> list[Fact]:
        """The facts, as a reader sees them."""
        return [record.fact for record in self.records()]

    def write(self, *facts: Fact) -> None:
        """Hold the log and append."""
        with self.open() as log:
            for fact in facts:
                log.append(fact)

    def fill(self, content: bytes) -> None:
        """Put a log there that this machine has not seen before."""
        self.folder.path.mkdir(parents=True, exist_ok=True)
        self.folder.log.write_bytes(content)
        self.witness.path.unlink(missing_ok=True)


def notes(count: int) -> list[Fact]:
    """Facts that can be told apart."""
    return [e.Presented(f"note-{number}.md") for number in range(1, count + 1)]


def lines_of(facts: list[Fact]) -> list[bytes]:
    """The lines of a log that holds these facts."""
    lines: list[bytes] = []
    last: Record | None = None
    for fact in facts:
        record = Record.after(last, fact, epoch=1, at="2026-01-01T00:00:00+00:00")
        lines.append(record.line(last.hash if last else GENESIS))
        last = record
    return lines


def body(seq: int, **changes: Any) -> dict[str, Any]:
    """The body of a record, before it is chained."""
    plain = {"schema": 1, "seq": seq, "epoch": 1, "at": "", "type": "Presented", "data": {"path": "a"}}
    return {**plain, **changes}


def chained(bodies: list[dict[str, Any]]) -> list[bytes]:
    """Lines for bodies made by hand, with hashes that fit."""
    lines: list[bytes] = []
    prev = GENESIS
    for one in bodies:
        full = {**one, "prev": prev}
        prev = digest(full)
        lines.append(canonical({**full, "hash": prev}).encode() + b"\n")
    return lines


def start(module: str, *words: str | Path, **options: Any) -> subprocess.Popen[str]:
    """Start a module of these tests as a process of its own, with pipes to talk to it."""
    return subprocess.Popen(
        [sys.executable, "-m", f"tests.store.{module}", *map(str, words)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )
