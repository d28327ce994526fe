"""No box at all: a command runs as the user does, but cannot outlive its owner."""

import os
import subprocess
import sys
from contextlib import suppress
from typing import ClassVar

from harness_executor import faults
from harness_executor.kernel.assurance import Assurance
from harness_executor.sandbox import keeper
from harness_executor.sandbox.base import Command, Finished, Room
from harness_executor.sandbox.kept import Kept, open_log, open_streams, run_to_end
from harness_executor.sandbox.unboxed import Unboxed

_KEEPER = (sys.executable, "-I", "-S", keeper.__file__)


class PlainSandbox:
    """Runs commands as the user, in a process tree that is always cleaned up."""

    assurance = Assurance.UNSANDBOXED
    hosts: ClassVar[tuple[str, ...]] = ()

    def open(self, room: Room) -> Unboxed:
        """The tree where it lies."""
        return Unboxed(self, room)

    def start(self, command: Command) -> Kept:
        """Start a command and go on."""
        log = open_log(command.log)
        try:
            running = _spawn(command, log)
        finally:
            os.close(log)
        faults.point("process.started")
        return running

    def run(self, command: Command, seconds: float) -> Finished:
        """Run a command to its end, or to the end of its time."""
        return run_to_end(self.start, command, seconds)


def _spawn(command: Command, log: int) -> Kept:
    held, hand = os.pipe()
    report, told = os.pipe()
    streams = open_streams(command, log)
    words = (",".join(map(str, (told, *streams))), str(command.log_limit), str(command.cwd), *command.argv)
    try:
        process = subprocess.Popen(
            [*_KEEPER, *words],
            env=dict(command.env),
            stdin=held,
            stdout=log,
            stderr=log,
            pass_fds=(told, *streams),
        )
    except (OSError, ValueError):
        os.close(report)
        os.close(hand)
        raise
    finally:
        os.close(held)
        for end in (told, *streams):
            os.close(end)
    return Kept(hand, report, lambda: _bury(process), process.pid)


def _bury(process: "subprocess.Popen[bytes]") -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(5)
