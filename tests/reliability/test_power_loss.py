"""Power loss: every state a disk may be in after the plug is pulled, and what recovery makes of it.

The system calls of a real run are recorded. Data is volatile until its file is synced, names until their
folder is. A write that was not synced may have arrived up to any byte, with zeros after it or before it, or
without any of its pages; a cut that was not synced may arrive after a later write.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from pathlib import Path

import pytest

from harness_executor.errors import DiskError, LogDamaged
from harness_executor.kernel import events as e
from harness_executor.kernel.canonical import parse
from harness_executor.kernel.events import Fact
from tests.store.place import OPENED, Place, notes

PAGE = 4096
LONG = e.Presented("long" * 2500)
FACTS: list[Fact] = [OPENED, *notes(1), LONG, e.TaskPaused("end")]


@dataclass(frozen=True)
class Write:
    """Bytes were put at the end of the log."""

    at: int
    data: bytes


@dataclass(frozen=True)
class Cut:
    """The log was cut to a length."""

    size: int


@dataclass(frozen=True)
class Sync:
    """A file or a folder was made durable."""

    path: Path


@dataclass(frozen=True)
class Seen:
    """A record is called durable: the witness was told, and the caller is told next."""

    witness: bytes


Op = Write | Cut | Sync | Seen


@dataclass
class Recorder:
    """Listens to the system calls a log makes."""

    place: Place
    ops: list[Op] = field(default_factory=list)
    failing: int = 0
    """Which write to the log is followed by a sync that fails."""

    def listen(self, world: pytest.MonkeyPatch) -> None:
        """Record from now on; a sync is noted and not waited for."""
        write, cut, overwrite = os.write, os.ftruncate, os.pwrite

        def noted_write(target: int, data: bytes) -> int:
            at = os.fstat(target).st_size
            done = write(target, data)
            self.ops.append(Write(at, bytes(data)[:done]))
            return done

        def noted_cut(target: int, size: int) -> None:
            cut(target, size)
            self.ops.append(Cut(size))

        def noted_overwrite(target: int, data: bytes, at: int) -> int:
            done = overwrite(target, data, at)
            self.ops.append(Seen(self.place.witness.path.read_bytes()))
            return done

        world.setattr(os, "write", noted_write)
        world.setattr(os, "ftruncate", noted_cut)
        world.setattr(os, "pwrite", noted_overwrite)
        world.setattr(os, "fsync", self._sync)

    def _sync(self, target: int) -> None:
        writes = sum(isinstance(op, Write) for op in self.ops)
        if writes == self.failing > 0 and isinstance(self.ops[-1], Write):
            raise OSError(errno.EIO, "Input/output error")
        self.ops.append(Sync(Path(f"/proc/self/fd/{target}").readlink()))


@dataclass(frozen=True)
class Disk:
    """What is certain to be on the disk, what may be, and what the caller was told."""

    durable: bytes
    acked: int
    """How many records were called durable."""
    unnamed: frozenset[Path] = frozenset()
    """Folders whose names for the log, or for a folder above it, may still be lost."""
    pending: tuple[Write | Cut, ...] = ()
    witness: bytes | None = None

    def after(self, op: Op, log: Path) -> "Disk":
        """The disk after one more operation."""
        match op:
            case Write() | Cut():
                return replace(self, pending=(*self.pending, op))
            case Sync(path) if path == log:
                return replace(self, durable=self._content(), pending=())
            case Sync(path):
                return replace(self, unnamed=self.unnamed - {path})
            case Seen(witness):
                return replace(self, witness=witness, acked=parse(witness.decode())["seq"])

    def states(self, stride: int) -> set[bytes | None]:
        """Every content the log may have once the power is back; None where it has no name."""
        found: set[bytes | None] = {self.durable}
        if self.unnamed:
            found.add(None)
        contents = {self.durable}
        for op in self.pending:
            if isinstance(op, Cut):
                contents |= {_done(content, op) for content in contents}  # it may arrive after a later write
            else:
                found |= {part for content in contents for part in _halfway(content, op, stride)}
                contents = {_done(content, op) for content in contents}
            found |= contents
        return found

    def _content(self) -> bytes:
        content = self.durable
        for op in self.pending:
            content = _done(content, op)
        return content


def _done(content: bytes, op: Write | Cut) -> bytes:
    if isinstance(op, Cut):
        return content[: op.size]
    return content[: op.at] + op.data + content[op.at + len(op.data) :]


def _halfway(content: bytes, op: Write, stride: int) -> Iterator[bytes]:
    before, beneath, data = content[: op.at], content[op.at :], op.data
    for at in range(0, len(data), stride if len(data) < PAGE else 53):
        yield before + data[:at] + beneath[at:]
        yield before + data[:at] + b"\0"
        yield before + data[:at] + b"\0" * (len(data) - at)
        yield before + b"\0" * at + data[at:]
    pages = list(
        pairwise([op.at, *range((op.at // PAGE + 1) * PAGE, op.at + len(data), PAGE), op.at + len(data)])
    )
    for arrived in product([True, False], repeat=len(pages)):
        yield before + b"".join(
            data[start - op.at : stop - op.at] if there else b"\0" * (stop - start)
            for (start, stop), there in zip(pages, arrived, strict=True)
        )


def course(place: Place, began: Disk, ops: list[Op]) -> Iterator[Disk]:
    """The disk before, between and after the operations."""
    disk = began
    yield disk
    for op in ops:
        disk = disk.after(op, place.folder.log)
        yield disk


def run(place: Place, monkeypatch: pytest.MonkeyPatch, facts: list[Fact], *, failing: int = 0) -> list[Op]:
    """What a log does to the disk while these facts are appended."""
    recorder = Recorder(place, failing=failing)
    with monkeypatch.context() as world:
        recorder.listen(world)
        with place.open() as log:
            for fact in facts:
                with suppress(DiskError):
                    log.append(fact)
    return recorder.ops


def restore(place: Place, content: bytes | None) -> None:
    """The log as it is once the power is back."""
    if content is None:
        place.folder.log.unlink(missing_ok=True)
        return
    place.folder.path.mkdir(parents=True, exist_ok=True)
    place.folder.log.touch()
    with place.folder.log.open("r+b") as log:
        log.write(content)
        log.truncate()


def remember(place: Place, witness: bytes | None) -> None:
    """The witness as it is once the power is back: it is never synced, so it may be lost."""
    place.witness.path.unlink(missing_ok=True)
    if witness is not None:
        place.witness.path.write_bytes(witness)


def survive(place: Place, disks: Iterator[Disk], told: list[Fact], *, stride: int = 1) -> int:
    """Recover from every state of every disk; gives how many there were."""
    count = 0
    for disk in disks:
        remember(place, disk.witness)
        for content in disk.states(stride):
            count += 1
            restore(place, content)
            facts = place.facts()
            assert facts[: disk.acked] == told[: disk.acked]
            assert len(facts) <= disk.acked + 1
            if count % 13 == 0:
                remember(place, None)
                _goes_on(place, facts)
                remember(place, disk.witness)
    return count


def _goes_on(place: Place, facts: list[Fact]) -> None:
    place.write(e.TaskResumed("user"))
    after = place.facts()
    assert after[: len(facts)] == facts
    assert after[-1] == e.TaskResumed("user")
    assert all(isinstance(fact, e.WriterClaimed | e.TailCut) for fact in after[len(facts) : -1])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A project on a disk that is only ever waited for in the model."""
    monkeypatch.setattr(os, "fsync", lambda _target: None)
    found = Place(tmp_path)
    found.witness.path.parent.mkdir()
    return found


def empty(place: Place) -> Disk:
    """A disk on which nothing of the task is certain, not even its folders."""
    folder = place.folder.path
    return Disk(b"", 0, frozenset({folder, *folder.parents[:3]}))


def test_every_acknowledged_record_survives(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plug is pulled after each operation of a run, with the disk in every state it may be in."""
    ops = run(place, monkeypatch, FACTS)
    told = place.facts()
    assert told == FACTS
    assert sum(isinstance(op, Seen) for op in ops) == len(FACTS)
    assert survive(place, course(place, empty(place), ops), told) > 4000


def test_a_sync_that_failed_is_no_danger_later(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that was taken back after its sync failed cannot spoil the ones written in its place."""
    ops = run(place, monkeypatch, [OPENED, e.Presented("never" * 30), *notes(1)], failing=2)
    told = place.facts()
    assert told == [OPENED, *notes(1)]
    assert sum(isinstance(op, Cut) for op in ops) == 1
    assert survive(place, course(place, empty(place), ops), told, stride=5) > 500


def _torn(content: bytes) -> list[bytes]:
    """A log whose last write arrived in parts."""
    *_, last = content.splitlines(keepends=True)
    before = content[: -len(last)]
    return [
        before + last[:40],
        before + last[:-1],
        before + last[:100] + b"\0" * 100,
        before + b"\0" * 60 + last[60:],
        before + b"\0" * PAGE,
        before + b"\n",
    ]


@pytest.mark.parametrize("which", range(6))
def test_losing_power_again_during_recovery_changes_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    """A log whose tail is being cut when the plug is pulled once more keeps every record too."""
    place.write(OPENED, *notes(2))
    content = _torn(place.folder.log.read_bytes())[which]
    shutil.rmtree(place.layout.root)
    restore(place, content)
    remember(place, None)
    began = Disk(content, len(place.facts()))
    ops = run(place, monkeypatch, notes(1))
    assert any(isinstance(op, Cut) for op in ops)
    told = place.facts()
    assert [type(fact).__name__ for fact in told[2:]] == ["WriterClaimed", "TailCut", "Presented"]
    assert survive(place, course(place, began, ops), told, stride=9) > 200


@pytest.mark.parametrize("spared", [0, 1, 2, 3])
def test_the_model_notices_a_folder_that_is_not_synced(
    place: Place, monkeypatch: pytest.MonkeyPatch, spared: int
) -> None:
    """Were any folder above the log left out, an acknowledged record could lose its name."""
    folder = (place.folder.path, *place.folder.path.parents[:3])[spared]
    ops = [op for op in run(place, monkeypatch, [OPENED]) if op != Sync(folder)]
    with pytest.raises((AssertionError, LogDamaged)):
        survive(place, course(place, empty(place), ops), place.facts(), stride=50)


def test_the_model_notices_a_file_that_is_not_synced(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the log itself not synced, an acknowledged record could be lost."""
    ops = [op for op in run(place, monkeypatch, FACTS[:1]) if op != Sync(place.folder.log)]
    with pytest.raises((AssertionError, LogDamaged)):
        survive(place, course(place, empty(place), ops), place.facts(), stride=50)
