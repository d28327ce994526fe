"""The event log: one writer, every fact durable before it is believed."""

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import DiskError, LogDamaged, LogError, LogFenced, LogHeld
from harness_executor.kernel import events as e
from harness_executor.kernel.acts import Call
from harness_executor.kernel.canonical import parse
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.scenario import Scenario, Step
from harness_executor.store.log import open_log, read_task
from harness_executor.store.record import read
from tests.kernel.examples import EXAMPLES
from tests.store.place import OPENED, ROOT, Place, Ticking, body, chained, lines_of, notes, start

FOUR = lines_of([OPENED, *notes(3)])


@contextmanager
def held(place: Place, *words: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Another process that holds the log; gives it, and the child it started."""
    process = start("holding", place.root, *(words or ("0",)))
    assert process.stdout is not None
    said = process.stdout.readline().split()
    assert said[0] == "held"
    child = int(said[1])
    try:
        yield process, child
    finally:
        process.kill()
        process.communicate()
        if child:
            os.kill(child, signal.SIGKILL)


def names(facts: list[e.Fact]) -> list[str]:
    """The names of facts."""
    return [type(fact).__name__ for fact in facts]


def test_reads_what_was_appended(place: Place) -> None:
    """Every kind of fact, in order, by a reader that holds nothing."""
    place.write(*EXAMPLES)
    assert tuple(place.facts()) == EXAMPLES
    assert read_task(place.folder, place.witness) == read_task(place.folder)
    assert read_task(place.folder).id == EXAMPLES[0].task_id  # type: ignore[attr-defined]


def test_believes_a_fact_once_it_is_written(place: Place) -> None:
    """The state after an append is the state a reader sees."""
    with place.open() as log:
        for fact in EXAMPLES:
            assert log.append(fact) == log.task == read_task(place.folder)


def test_every_opening_is_a_new_epoch(place: Place) -> None:
    """Who takes a log over writes so first; a new log needs no such word."""
    place.write(OPENED)
    place.write(*notes(1))
    place.write()
    records = place.records()
    assert [record.epoch for record in records] == [1, 2, 2, 3]
    claimed = ["TaskOpened", "WriterClaimed", "Presented", "WriterClaimed"]
    assert names([record.fact for record in records]) == claimed
    assert f"process {os.getpid()} on " in records[1].fact.holder  # type: ignore[attr-defined]


def test_opening_and_leaving_writes_nothing(place: Place) -> None:
    """A log that was opened and never written to does not exist."""
    place.write()
    assert not place.folder.log.exists()
    assert place.records() == ()


@pytest.mark.usefixtures("quick_disk")
def test_a_torn_tail_is_cut_and_kept_aside(place: Place) -> None:
    """At every byte of the last record: three records stay, the rest is kept, and the log goes on."""
    for length in range(1, len(FOUR[-1])):
        place.fill(b"".join(FOUR[:-1]) + FOUR[-1][:length])
        place.write(*notes(1))
        good = len(b"".join(FOUR[:-1]))
        claimed, cut, fact = place.facts()[3:]
        assert isinstance(claimed, e.WriterClaimed)
        assert cut == e.TailCut(good, f"torn-{good}.bin")
        assert fact == notes(1)[0]
        assert (place.folder.path / f"torn-{good}.bin").read_bytes() == FOUR[-1][:length]


@pytest.mark.parametrize(
    "tail", [b"\0" * 4096, FOUR[-1][:90] + b"\0" * 99, b"\0" * 90 + FOUR[-1][90:], b"stub"]
)
def test_a_tail_of_zeros_is_cut_too(place: Place, tail: bytes) -> None:
    """Space that was never filled, at the end or inside the last write, is an unfinished write."""
    place.fill(b"".join(FOUR[:-1]) + tail)
    place.write()
    assert names(place.facts())[3:] == ["WriterClaimed", "TailCut"]


def test_a_first_record_that_is_torn_leaves_an_empty_log(place: Place) -> None:
    """Nothing had been acknowledged, so nothing is lost; what was cut is written down."""
    place.fill(FOUR[0][:100])
    place.write(OPENED)
    assert place.facts() == [e.TailCut(0, "torn-0.bin"), OPENED]


def test_a_tail_that_was_acknowledged_is_not_cut(place: Place) -> None:
    """A record this machine saw whole and now finds torn is damage; the file is left alone."""
    place.write(OPENED, *notes(2))
    torn = place.folder.log.read_bytes()[:-1]
    place.folder.log.write_bytes(torn)
    with pytest.raises(LogDamaged, match="it had 3 records, 2 are there"), place.open():
        pass
    assert place.folder.log.read_bytes() == torn


@pytest.mark.parametrize(
    "content",
    [
        b"".join([*FOUR[:2], b"garbage\n", *FOUR[3:]]),
        b"".join([*FOUR[:2], *FOUR[3:]]),
        b"".join(chained([body(1), body(2, schema=2)])),
        b"".join(chained([body(1), body(1)])),
    ],
    ids=["garbage", "gap", "newer schema", "doubled"],
)
def test_a_damaged_log_is_not_opened_and_not_touched(place: Place, content: bytes) -> None:
    """Nothing is written to what cannot be read, and the lock is let go."""
    place.fill(content)
    for _ in range(2):
        with pytest.raises(LogDamaged), place.open():
            pass
    assert place.folder.log.read_bytes() == content


def test_a_second_writer_is_refused_and_told_who_holds_the_log(place: Place) -> None:
    """Two processes cannot write one task, and a reader needs no lock."""
    with held(place) as (process, _):
        with (
            pytest.raises(LogHeld, match=f"task is being worked on by process {process.pid} on "),
            place.open(),
        ):
            pass
        assert names(place.facts()) == ["TaskOpened"]


def test_a_second_writer_in_the_same_process_is_refused(place: Place) -> None:
    """Threads are no exception."""
    with place.open(), pytest.raises(LogHeld, match=f"process {os.getpid()} "), place.open():
        pass


@pytest.mark.parametrize("holder", [None, b"", b"\xff\xfe"])
def test_a_second_writer_is_refused_though_the_holder_left_no_name(
    place: Place, holder: bytes | None
) -> None:
    """The name is for people; the lock is what holds."""
    with place.open():
        place.folder.holder.unlink()
        if holder is not None:
            place.folder.holder.write_bytes(holder)
        with pytest.raises(LogHeld, match="task is being worked on by"), place.open():
            pass


def test_a_killed_holder_lets_go_at_once(place: Place) -> None:
    """After kill -9 the next one opens the log, though a child of the dead one lives on."""
    with held(place, "3", "child") as (process, child):
        process.kill()
        process.wait()
        os.kill(child, 0)
        began = time.monotonic()
        place.write(*notes(1))
        assert time.monotonic() - began < 5
        os.kill(child, 0)
    assert names(place.facts())[4:] == ["WriterClaimed", "Presented"]


@pytest.mark.parametrize("again", [False, True])
def test_a_holder_whose_lock_was_removed_stops(place: Place, again: bool) -> None:
    """A lock that is gone, or another file by the same name, holds nothing."""
    with place.open() as log:
        log.append(OPENED)
        place.folder.lock.unlink()
        if again:
            place.folder.lock.touch()
        with pytest.raises(LogFenced, match="was removed or replaced"):
            log.append(notes(1)[0])
    assert place.facts() == [OPENED]


def test_a_holder_that_was_overtaken_stops(place: Place) -> None:
    """Whoever slept while another process took over cannot write, and what the other wrote stays."""
    with place.open() as log:
        log.append(OPENED)
        place.folder.lock.unlink()
        with held(place, "2"), pytest.raises(LogFenced):
            log.append(notes(1)[0])
    assert names(place.facts()) == ["TaskOpened", "WriterClaimed", "Presented", "Presented"]


@pytest.mark.parametrize("change", [b"x", b"\0", None])
def test_a_log_that_somebody_else_wrote_to_is_left_alone(place: Place, change: bytes | None) -> None:
    """A log that is longer, shorter or gone is not the one that was written here."""
    with place.open() as log:
        log.append(OPENED)
        content = place.folder.log.read_bytes() + change if change else b""
        place.folder.log.write_bytes(content)
        with pytest.raises(LogFenced, match=r"were written here: somebody took over"):
            log.append(notes(1)[0])
        assert place.folder.log.read_bytes() == content
        place.folder.log.unlink()
        with pytest.raises(LogFenced, match="has 0 bytes"):
            log.append(notes(1)[0])


def test_a_lock_that_is_a_link_is_refused(place: Place) -> None:
    """A link cannot make us lock, or write, a file of somebody else's."""
    place.folder.path.mkdir(parents=True)
    target = place.root / "precious"
    target.write_text("precious")
    place.folder.lock.symlink_to(target)
    with pytest.raises(LogError, match=r"cannot lock .*\.lock: "), place.open():
        pass
    assert target.read_text() == "precious"
    assert not place.folder.log.exists()


def test_a_disk_that_cannot_lock_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system knows no locks there is no weaker kind of lock instead."""
    monkeypatch.setattr(fcntl, "flock", _failing(errno.ENOSYS))
    with pytest.raises(LogError, match="cannot lock"), place.open():
        pass
    assert not place.folder.log.exists()


def _full_disk(place: Place, disk: Path, size: str, how: str) -> dict[str, Any]:
    disk.mkdir(exist_ok=True)
    mount = f"mount -t tmpfs -o size={size} tmpfs '{disk}'"
    run = f"exec '{sys.executable}' -m tests.store.filling '{place.root}' {how}"
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", f"{mount} && {run}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("size", "how"), [("64k", "stay"), ("64k", "reopen"), ("48k", "stay"), ("52k", "reopen")]
)
def test_a_full_disk_loses_nothing_that_was_acknowledged(place: Place, size: str, how: str) -> None:
    """On a real full disk the append fails in words and leaves no trace; with room made, the log goes on."""
    found = _full_disk(place, place.layout.root, size, how)
    assert found["said"].endswith("events.jsonl: No space left on device")
    assert len(found["acked"]) > 3
    assert found["seen"] == found["acked"][:-1]
    assert found["left"] == found["acked"]


@pytest.mark.parametrize("size", ["44k", "56k", "64k"])
def test_a_disk_that_is_full_for_the_witness_too_loses_nothing(place: Place, size: str) -> None:
    """Where both share a disk, a fact may be there that was not acknowledged, and never the reverse."""
    found = _full_disk(place, place.root, size, "reopen")
    assert "No space left on device" in found["said"]
    assert [text for text in found["left"] if text in found["acked"]] == found["acked"]
    assert len(found["left"]) - len(found["acked"]) in (0, 1)


def test_a_file_that_may_not_grow_is_a_full_disk(place: Place) -> None:
    """A limit on the size of files fails like a full disk, in the middle of a record."""
    process = start("filling", place.root, "limit")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    found = json.loads(out)
    assert "File too large" in found["said"]
    assert found["seen"] == found["acked"][:-1]
    assert found["left"] == found["acked"]


def _failing(code: int) -> Any:
    def fail(*_words: Any) -> None:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS])
@pytest.mark.parametrize("call", ["fsync", "write", "open"])
def test_a_disk_that_fails_is_not_believed(
    place: Place, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    """What was not made durable is not acknowledged, is not there, and does not stand in the way."""
    with place.open() as log:
        log.append(OPENED)
        before = log.task
        with monkeypatch.context() as world:
            world.setattr(os, call, _failing(code))
            with pytest.raises(DiskError, match=os.strerror(code)):
                log.append(e.TaskPaused("never said"))
        assert log.task == before
        assert place.facts() == [OPENED]
        log.append(notes(1)[0])
    assert place.facts() == [OPENED, *notes(1)]


def test_a_first_record_whose_name_is_not_durable_is_not_acknowledged(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file without a name is no file: the folders are made durable too, or the append fails."""
    sync = os.fsync

    def not_folders(descriptor: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):  # noqa: PTH112 - a descriptor, not a path
            raise OSError(errno.EIO, "Input/output error")
        sync(descriptor)

    with place.open() as log:
        with monkeypatch.context() as world:
            world.setattr(os, "fsync", not_folders)
            with pytest.raises(DiskError, match="Input/output error"):
                log.append(OPENED)
        assert place.facts() == []
        log.append(OPENED)
    assert place.facts() == [OPENED]


def test_a_system_that_takes_few_bytes_at_a_time_gets_all_of_them(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short writes make one record, not several."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda target, data: write(target, bytes(data)[:7]))
    place.write(*EXAMPLES)
    assert tuple(place.facts()) == EXAMPLES


def test_a_tail_that_cannot_be_kept_is_not_cut(place: Place) -> None:
    """Unless the bytes are safe aside, they stay where they are."""
    content = b"".join(FOUR[:-1]) + b"stub"
    place.fill(content)
    aside = place.folder.path / f"torn-{len(content) - 4}.bin"
    aside.mkdir()
    with pytest.raises(DiskError, match="Is a directory"), place.open():
        pass
    assert place.folder.log.read_bytes() == content


def test_a_fact_that_could_not_be_read_back_is_refused(place: Place) -> None:
    """Neither the log nor its writer is harmed by it."""
    deep: Any = parse("[" * 99 + "]" * 99)
    scenario = Scenario("deep", "", (Step(Call("/", "POST", json=deep), Expect(200)),))
    with place.open() as log:
        log.append(OPENED)
        with pytest.raises(LogError, match="ScenariosFrozen cannot be written down"):
            log.append(e.ScenariosFrozen((scenario,), ""))
        log.append(notes(1)[0])
    assert place.facts() == [OPENED, *notes(1)]


def test_a_folder_that_vanishes_stops_the_writer(place: Place) -> None:
    """A state folder deleted in the middle of a run is noticed before the next fact."""
    with place.open() as log:
        log.append(OPENED)
        place.folder.path.rename(place.root / "gone")
        with pytest.raises(LogFenced):
            log.append(notes(1)[0])
    assert len(read(place.root / "gone" / "events.jsonl").records) == 1


def test_readers_see_only_whole_states_while_a_writer_writes(place: Place) -> None:
    """Every look is a beginning of the log, never shorter than the look before, and never an alarm."""

    def look_until_done(_number: int) -> list[int]:
        seen = [0]
        while seen[-1] < 151 and process.poll() is None:
            records = place.records()
            assert [record.seq for record in records] == list(range(1, len(records) + 1))
            seen.append(len(records))
        return seen

    process = start("holding", place.root, "150")
    with ThreadPoolExecutor(4) as pool:
        looks = list(pool.map(look_until_done, range(4)))
    process.communicate("")
    assert process.returncode == 0
    assert all(look == sorted(look) for look in looks)
    assert any(0 < length < 151 for look in looks for length in look)
    assert len(place.records()) == 151


def test_the_clock_labels_every_record(place: Place) -> None:
    """Times come from the clock that was passed in."""
    place.write(*notes(2))
    assert [record.at for record in place.records()] == [
        "2026-01-01T00:00:01+00:00",
        "2026-01-01T00:00:02+00:00",
    ]


def test_a_place_that_cannot_be_locked_is_an_error(tmp_path: Path) -> None:
    """A lock that is a folder cannot be taken, and the user is told where."""
    place = Place(tmp_path)
    place.folder.lock.mkdir(parents=True)
    with pytest.raises(LogError, match="cannot lock"), open_log(place.folder, Ticking(), place.witness):
        pass
