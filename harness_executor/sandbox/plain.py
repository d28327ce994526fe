"""No box at all: a command runs as the user does, but cannot outlive its owner."""

import os
import select
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from harness_executor import faults
from harness_executor.clock import SystemClock
from harness_executor.kernel.report import Assurance
from harness_executor.sandbox import keeper
from harness_executor.sandbox.base import Command, Finished

_KEEPER = (sys.executable, "-I", "-S", keeper.__file__)


@dataclass
class PlainRunning:
    """A command under its keeper."""

    process: subprocess.Popen[bytes]
    report: int
    code: int | None = field(default=None)
    """The command's exit code, once its keeper ended."""
    gone: bool = False
    """Did the keeper say that nothing is left? One that was killed says nothing."""

    def pids(self) -> set[int]:
        """Every process of the command, its children and theirs."""
        return keeper.children_of({self.process.pid})

    def exit_code(self) -> int | None:
        """The code of the command, once it ended."""
        return self.wait(0)

    def wait(self, seconds: float) -> int | None:
        """The code of the command if it ends within this time."""
        if self.code is None and select.select([self.report], [], [], max(0.0, seconds))[0]:
            said = os.read(self.report, 64)
            self.gone = bool(said)
            self.code = int(said) if said else -9
            self._let_go()
        return self.code

    def stop(self, grace: float) -> bool:
        """End everything, politely and then not; true when nothing is left."""
        if self.code is None:
            self._say(b"T")
            if self.wait(grace) is None:
                self._close_hand()
                self.wait(10.0)
        return self.gone and self.process.poll() is not None

    def _say(self, word: bytes) -> None:
        with suppress(OSError, ValueError):
            hand = self._hand()
            hand.write(word)
            hand.flush()

    def _close_hand(self) -> None:
        with suppress(OSError):
            self._hand().close()

    def _hand(self) -> IO[bytes]:
        assert self.process.stdin is not None  # noqa: S101 - it was opened as a pipe
        return self.process.stdin

    def _let_go(self) -> None:
        self._close_hand()
        os.close(self.report)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(5)


class PlainSandbox:
    """Runs commands as the user, in a process tree that is always cleaned up."""

    assurance = Assurance.UNSANDBOXED

    def start(self, command: Command) -> PlainRunning:
        """Start a command and go on."""
        log = _open_log(command.log)
        try:
            running = _spawn(command, log)
        finally:
            os.close(log)
        faults.point("process.started")
        return running

    def run(self, command: Command, seconds: float) -> Finished:
        """Run a command to its end, or to the end of its time."""
        if command.log is None:
            raise ValueError("a command that is run to its end needs a log")
        running = self.start(command)
        try:
            code = _wait_capped(running, command, seconds)
        finally:
            running.stop(0.5)
        output = read_tail(command.log, 200_000)
        if code is None:
            return Finished(running.code if running.code is not None else -9, output, timed_out=True)
        return Finished(code, output)


def read_tail(path: Path, limit: int) -> str:
    """The end of an output file, as text."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - limit))
        return stream.read().decode(errors="replace")


def _wait_capped(running: PlainRunning, command: Command, seconds: float) -> int | None:
    clock = SystemClock()
    end = clock.monotonic() + seconds
    while clock.monotonic() < end:
        code = running.wait(min(0.5, end - clock.monotonic()))
        if code is not None:
            return code
        if command.log and command.log.stat().st_size >= command.log_limit:
            return None
    return None


def _open_log(path: Path | None) -> int:
    if path is None:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _spawn(command: Command, log: int) -> PlainRunning:
    report, ours = os.pipe()
    kept = (str(ours), str(command.log_limit), str(command.cwd), *command.argv)
    try:
        process = subprocess.Popen(
            [*_KEEPER, *kept],
            env=dict(command.env),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            pass_fds=(ours,),
        )
    except (OSError, ValueError):
        os.close(report)
        raise
    finally:
        os.close(ours)
    return PlainRunning(process, report)
