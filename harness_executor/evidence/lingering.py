"""Steps that stay open when they are done: each is waited for while anything works, and then ended."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from harness_executor.clock import Clock
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Box, Cause, Command, Finished, Running
from harness_executor.sandbox.kept import read_tail

_LOOK = 0.5
_LITTLE = 0.02
"""The part of its time that a process may be busy which has nothing to do."""
_TAIL = 200_000


@frozen
class Wait:
    """How long a step is waited for."""

    seconds: float
    idle: float = 30.0
    """Seconds without work or a word after which it is done."""


@dataclass
class Idleness:
    """Whether processes have nothing to do any more."""

    clock: Clock
    pids: Callable[[], set[int]]
    log: Path
    idle: float
    since: float = 0.0
    """When the time began in which nothing may happen."""
    seen: tuple[dict[int, int], int] | None = field(default=None, repr=False)

    def is_reached(self) -> bool:
        """Did nothing happen for long enough?"""
        now = self.clock.monotonic()
        if self.seen and now - self.since < self.idle:
            return False
        before, self.seen = self.seen, (_worked(self.pids()), self.log.stat().st_size)
        took, self.since = now - self.since, now
        if before is None or before[1] != self.seen[1] or not self.seen[0]:
            return False
        more = sum(max(0, ticks - before[0].get(pid, 0)) for pid, ticks in self.seen[0].items())
        return more <= _LITTLE * took * os.sysconf("SC_CLK_TCK")


def run_until_idle(
    box: Box, clock: Clock, beside: Iterable[Running], wait: Wait, command: Command
) -> Finished:
    """Run a command to its end, or until nothing of it works any more; one that is cut off at work failed."""
    if command.log is None:
        raise ValueError("a command that is run until it is idle needs a log")
    log, end = command.log, clock.monotonic() + wait.seconds
    running, cause = box.start(command), Cause.NONE
    all_of_it = (running, *beside)
    watch = Idleness(clock, lambda: {pid for one in all_of_it for pid in one.pids()}, log, wait.idle)
    try:
        while (code := running.wait(_LOOK)) is None and not cause:
            if watch.is_reached():
                code = 0
                break
            is_late = clock.monotonic() > end
            is_full = log.stat().st_size >= command.log_limit
            cause = box.why_ended() or (Cause.OUTPUT if is_full else Cause.TIME if is_late else Cause.NONE)
    finally:
        running.stop(0.5)
    return Finished(-9 if code is None else code, read_tail(log, _TAIL), cause)


def _worked(pids: set[int]) -> dict[int, int]:
    """How long each process has been busy."""
    found: dict[int, int] = {}
    for pid in pids:
        try:
            said = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found[pid] = sum(map(int, said.rpartition(")")[2].split()[11:15]))
    return found
