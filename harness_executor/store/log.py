"""The event log of a task: one writer, every fact durable before it is believed."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from harness_executor import faults
from harness_executor.clock import Clock
from harness_executor.errors import LogFenced, LogHeld
from harness_executor.kernel.events import Fact, TailCut, WriterClaimed
from harness_executor.kernel.task import Task, apply, replay
from harness_executor.redaction import Redactor
from harness_executor.store.cleaning import clean_fact
from harness_executor.store.files import disk_error, sync_folder, write_all
from harness_executor.store.layout import TaskFolder
from harness_executor.store.lock import Held, held, inode_of
from harness_executor.store.record import Reading, Record, read
from harness_executor.store.witness import Witness


@dataclass
class Log:
    """The open log of a task, held by this process alone."""

    folder: TaskFolder
    clock: Clock
    witness: Witness
    lock_inode: tuple[int, int]
    task: Task = field(default_factory=Task)
    last: Record | None = None
    size: int = 0
    epoch: int = 1
    is_named: bool = False
    """Are the names of the log and of the folders above it durable?"""
    redactor: Redactor = field(default_factory=Redactor)
    """Takes the secrets out of every fact, before it is hashed and believed."""

    def append(self, fact: Fact) -> Task:
        """Write a fact, make it durable, and only then believe it."""
        before = self.redactor.count
        fact = clean_fact(fact, self.redactor)
        redacted = self.redactor.count - before
        at = self.clock.now().isoformat()
        record = Record.after(self.last, fact, epoch=self.epoch, at=at, redacted=redacted)
        line = record.line(self.last.hash if self.last else "0" * 64)
        self._fence()
        self._write(line)
        self.last, self.size = record, self.size + len(line)
        self.witness.saw(record)
        self.task = apply(self.task, fact)
        return self.task

    def _fence(self) -> None:
        if not self.folder.lock.exists() or inode_of(self.folder.lock.stat()) != self.lock_inode:
            raise LogFenced(
                f"the lock {self.folder.lock} was removed or replaced",
                hint="`harness resume` takes the task over",
            )
        there = self.folder.log.stat().st_size if self.folder.log.exists() else 0
        if there != self.size:
            raise LogFenced(
                f"{self.folder.log} has {there} bytes, {self.size} were written here: somebody took over",
                hint="leave the task to that process",
            )

    def _write(self, line: bytes) -> None:
        try:
            target = os.open(self.folder.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise disk_error(self.folder.log, error) from error
        try:
            write_all(target, line)
            faults.point("log.append.written")
            os.fsync(target)
            self._sync_names()
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(target, self.size)
                os.fsync(target)
            raise disk_error(self.folder.log, error) from error
        finally:
            os.close(target)

    def _sync_names(self) -> None:
        if not self.is_named:
            for place in (self.folder.path, *self.folder.path.parents[:3]):
                sync_folder(place)
            self.is_named = True


@contextmanager
def open_log(
    folder: TaskFolder, clock: Clock, witness: Witness, redactor: Redactor | None = None
) -> Iterator[Log]:
    """Hold the log of a task: lock it, mend its tail, and claim one that exists under a new epoch."""
    folder.path.mkdir(parents=True, exist_ok=True)
    try:
        with held(folder.lock) as inode:
            faults.point("lock.taken")
            yield _claim(Log(folder, clock, witness, inode, redactor=redactor or Redactor()))
    except Held:
        raise LogHeld(
            f"{folder.path.name} is being worked on by {_holder(folder)}",
            hint="wait for it to end, or stop that process; `harness status` shows where it is",
        ) from None


def read_task(folder: TaskFolder, witness: Witness | None = None) -> Task:
    """The task of a folder as it stands now, without holding it."""
    return replay(record.fact for record in read_records(folder, witness))


def read_records(folder: TaskFolder, witness: Witness | None = None) -> tuple[Record, ...]:
    """The records of a task, without holding it."""
    return (witness.read(folder.log) if witness else read(folder.log)).records


def _claim(log: Log) -> Log:
    holder = f"process {os.getpid()} on {socket.gethostname()}"
    with suppress(OSError):
        log.folder.holder.write_text(holder)
    reading = log.witness.read(log.folder.log)
    cut = _cut_tail(log.folder, reading)
    log.task = replay(record.fact for record in reading.records)
    log.last, log.size = reading.last, reading.good
    if reading.last:
        log.epoch = reading.last.epoch + 1
        log.append(WriterClaimed(holder))
    if cut:
        log.append(cut)
    return log


def _cut_tail(folder: TaskFolder, reading: Reading) -> TailCut | None:
    if not reading.torn:
        return None
    aside = folder.path / f"torn-{reading.good}.bin"
    try:
        with aside.open("wb") as kept, folder.log.open("r+b") as log:
            kept.write(reading.torn)
            kept.flush()
            os.fsync(kept.fileno())
            os.ftruncate(log.fileno(), reading.good)
            os.fsync(log.fileno())
    except OSError as error:
        raise disk_error(aside, error) from error
    return TailCut(reading.good, aside.name)


def _holder(folder: TaskFolder) -> str:
    try:
        return folder.holder.read_text(errors="replace") or "another process"
    except OSError:
        return "another process"
