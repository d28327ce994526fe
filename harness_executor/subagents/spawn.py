"""Starts a subagent for a job, listens to it, and ends it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness_executor import errors, faults
from harness_executor.clock import Clock
from harness_executor.errors import (
    AgentDied,
    AgentError,
    AgentOutOfMemory,
    AgentSilent,
    AgentStale,
    AgentTimedOut,
    HarnessError,
    ShapeError,
)
from harness_executor.kernel.canonical import parse
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.liveness import Fate, Life, Limits, fate, look_again
from harness_executor.shapes import read
from harness_executor.subagents.cradle import Child, Cradle, FreshCradle
from harness_executor.subagents.jobs import Beat, Done, Failed, Granted, Job, Message, Spent, Stumbled, Wants
from harness_executor.subagents.mailbox import Letter
from harness_executor.subagents.replies import Result, Unacceptable, from_arguments

_MESSAGES: dict[str, type[Message]] = {
    kind.__name__: kind for kind in (Beat, Wants, Spent, Stumbled, Done, Failed)
}


@dataclass
class Work:
    """A job being worked on: what is heard of it, and what it is told."""

    job: Job
    child: Child
    clock: Clock
    limits: Limits
    killed_before: int
    """Processes the system had killed for lack of memory when it began."""

    def __iter__(self) -> Iterator[Beat | Wants | Spent | Stumbled | Result]:
        """What it reports, and last its result."""
        for message in self._messages():
            match message:
                case Done():
                    faults.point("agent.answered")
                    yield _result(self.job, message)
                    return
                case Failed():
                    raise _named(message)
                case _:
                    yield message
        raise self._died()

    def grant(self, call: int) -> None:
        """Let it make a call it asked for."""
        self._say(Granted(call))

    def tell(self, letter: Letter) -> None:
        """Put a letter into its mailbox."""
        self._say(letter)

    @property
    def stderr(self) -> Path:
        """What it prints besides."""
        return _stderr(self.job)

    def _say(self, message: Granted | Letter) -> None:
        line = json.dumps({"type": type(message).__name__, **asdict(message)})
        self.child.send(line.encode() + b"\n")

    def _messages(self) -> Iterator[Message]:
        life = Life.begun(self.limits, self.clock.monotonic()).excused(self.job.patience.wait)
        buffer = b""
        while True:
            chunk = self.child.hear(0.0)
            if chunk is None:  # only then it can be late: what waits was said in time, and we were not there
                now = self.clock.monotonic()
                self._check(fate(life, self.limits, now))
                chunk = self.child.hear(look_again(life, self.limits, now))
            if chunk == b"":
                return
            *lines, buffer = (buffer + (chunk or b"")).split(b"\n")
            for message in map(_message, lines):
                life = _lives(life, message, self.clock.monotonic())
                yield message

    def _check(self, ended: Fate | None) -> None:
        who, hint = f"the {self.job.role.value}", f"see {self.stderr}"
        match ended:
            case Fate.TIMED_OUT:
                raise AgentTimedOut(f"{who} gave no answer within {self.limits.whole:g} s", hint=hint)
            case Fate.SILENT:
                raise AgentSilent(f"{who} was silent for {self.limits.silence:g} s", hint=hint)
            case Fate.STALE:
                raise AgentStale(f"{who} got no further for {self.limits.stale:g} s", hint=hint)

    def _died(self) -> AgentError:
        code = self.child.exit_code(5.0)
        said = self.stderr.read_text(errors="replace").strip().splitlines()
        why = said[-1] if said else "it said nothing"
        if code == -9 and _killed_for_memory() > self.killed_before:
            return AgentOutOfMemory(
                f"the {self.job.role.value} was killed because the machine had no memory left",
                hint="free some memory, then `harness resume`",
            )
        return AgentDied(
            f"the {self.job.role.value} ended with code {code} and no answer: {why}",
            hint=f"see {self.stderr}",
        )


@frozen
class Agents:
    """Where work is done for the coordinator."""

    clock: Clock
    cradle: Cradle = field(default_factory=FreshCradle)
    silence: float = 60.0
    """Seconds without a sign of life after which a subagent counts as gone."""
    stale: float = 900.0
    """Seconds without progress after which it counts as stuck."""

    @contextmanager
    def work(self, job: Job) -> Iterator[Work]:
        """Have a job done by a process of its own, which is gone when the block ends."""
        killed = _killed_for_memory()
        child = self.cradle.start(_stderr(job))
        try:
            faults.point("agent.started")
            child.send(json.dumps(asdict(job)).encode() + b"\n")
            limits = Limits(job.seconds, self.silence, self.stale)
            yield Work(job, child, self.clock, limits, killed)
        finally:
            child.end()


def _stderr(job: Job) -> Path:
    return Path(job.scratch) / f"{job.id}.err"


def _lives(life: Life, message: Message, now: float) -> Life:
    match message:
        case Beat(_, _, moved):
            return life.after(now, moved)
        case Stumbled():
            return life.after(now).excused(message.wait)
    return life.after(now)


def _message(line: bytes) -> Message:
    try:
        data: dict[str, Any] = dict(parse(line.decode()))
        return read(_MESSAGES[data.pop("type")], data)
    except (ValueError, KeyError, TypeError, ShapeError) as error:
        raise AgentError(f"a subagent sent something that is no message: {error}") from error


def _result(job: Job, done: Done) -> Result:
    try:
        return from_arguments(job.answering, done.value, job.sources)
    except Unacceptable as error:
        raise AgentError(f"the {job.role.value} sent a result that cannot be used: {error}") from error


def _named(message: Failed) -> HarnessError:
    kind = getattr(errors, message.error, AgentError)
    if isinstance(kind, type) and issubclass(kind, HarnessError) and kind is not ShapeError:
        return kind(message.message, hint=message.hint)
    return AgentError(message.message, hint=message.hint)


def _killed_for_memory() -> int:
    """How many processes the system has killed for lack of memory."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
