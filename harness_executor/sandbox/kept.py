"""A command under its keeper, as its owner sees it."""

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness_executor.clock import SystemClock
from harness_executor.sandbox import keeper
from harness_executor.sandbox.base import Cause, Command, Finished

_TAIL = 200_000
"""Bytes of the end of an output that are given back."""
_KILLED = (-9, 137)
"""Exit codes of a command that was killed, or whose child was."""


@dataclass
class Kept:
    """A command under its keeper."""

    hand: int
    """The keeper hears its end, and `T` before it."""
    report: int
    """Where the keeper says its process id, and the exit code once nothing is left."""
    leave: Callable[[], object] = lambda: None
    """What to do when the keeper has spoken for the last time."""
    pid: int | None = None
    """The process of the keeper, once it said so."""
    code: int | None = None
    """The command's exit code, once its keeper ended."""
    gone: bool = False
    """Did the keeper say that nothing is left? One that was killed says nothing."""
    said: bytes = field(default=b"", repr=False)

    def pids(self) -> set[int]:
        """Every process of the command, its children and theirs."""
        if self.pid is None:
            self.wait(0)
        return keeper.children_of({self.pid}) if self.pid and self.code is None else set()

    def exit_code(self) -> int | None:
        """The code of the command, once it ended."""
        return self.wait(0)

    def wait(self, seconds: float) -> int | None:
        """The code of the command if it ends within this time."""
        clock = SystemClock()
        end = clock.monotonic() + seconds
        while self.code is None:
            if not select.select([self.report], [], [], max(0.0, end - clock.monotonic()))[0]:
                return None
            self._hear(os.read(self.report, 64))
        return self.code

    def stop(self, grace: float) -> bool:
        """End everything, politely and then not; true when nothing is left."""
        if self.code is None:
            with suppress(OSError):
                os.write(self.hand, b"T")
            if self.wait(grace) is None:
                self._close_hand()
                self._wake()
                self.wait(10.0)
        return self.gone

    def _hear(self, said: bytes) -> None:
        self.said += said
        first, *rest = self.said.split(b"\n")
        if rest:
            self.pid = int(first)
        if len(rest) == 2 or not said:
            self.gone = len(rest) == 2
            self.code = int(rest[0]) if self.gone else -9
            self._close_hand()
            os.close(self.report)
            self.leave()

    def _close_hand(self) -> None:
        if self.hand >= 0:
            os.close(self.hand)
            self.hand = -1

    def _wake(self) -> None:
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGCONT)


def run_to_end(
    start: Callable[[Command], Kept],
    command: Command,
    seconds: float,
    harm: Callable[[], Cause] = lambda: Cause.NONE,
) -> Finished:
    """Run a command to its end, to the end of its time, or until it does harm."""
    if command.log is None:
        raise ValueError("a command that is run to its end needs a log")
    running = start(command)
    try:
        cause = _wait_capped(running, command, seconds, harm)
    finally:
        running.stop(0.5)
    output = read_tail(command.log, _TAIL)
    return Finished(running.code if running.code is not None else -9, output, cause)


def read_tail(path: Path, limit: int) -> str:
    """The end of an output file, as text."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - limit))
        return stream.read().decode(errors="replace")


def open_log(path: Path | None) -> int:
    """A descriptor for the output of a command."""
    if path is None:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(
        missing_ok=True
    )  # a file that is cut to nothing and filled again is flushed by some file systems
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)


def open_streams(command: Command, log: int) -> tuple[int, ...]:
    """Descriptors for the errors of a command and for what it reads, if these are kept apart."""
    if command.errors is None and not command.stdin:
        return ()
    errors = open_log(command.errors) if command.errors else os.dup(log)
    given = os.memfd_create("stdin")
    with open(given, "wb", closefd=False) as stream:
        stream.write(command.stdin)
    os.lseek(given, 0, os.SEEK_SET)
    return errors, given


def _wait_capped(running: Kept, command: Command, seconds: float, harm: Callable[[], Cause]) -> Cause:
    logs = [log for log in (command.log, command.errors) if log is not None]
    clock = SystemClock()
    end = clock.monotonic() + seconds
    while clock.monotonic() < end:
        code = running.wait(min(0.5, end - clock.monotonic()))
        if code is not None:
            return harm() if code in _KILLED else Cause.NONE
        is_full = any(log.stat().st_size >= command.log_limit for log in logs)
        cause = Cause.OUTPUT if is_full else harm()
        if cause or command.is_overdue():
            return cause or Cause.HANGS
    return Cause.TIME
