"""Starts a subagent for a job, listens to it, and ends it."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness_executor import errors, faults
from harness_executor.clock import Clock
from harness_executor.errors import (
    AgentDied,
    AgentError,
    AgentSilent,
    AgentTimedOut,
    HarnessError,
    ShapeError,
)
from harness_executor.kernel.canonical import parse
from harness_executor.shapes import read
from harness_executor.subagents.cradle import Child, Cradle, FreshCradle
from harness_executor.subagents.jobs import Beat, Done, Failed, Job, Message, Spent
from harness_executor.subagents.replies import Result, Unacceptable, from_arguments

SILENCE = 60.0
"""Seconds without a heartbeat after which a subagent counts as gone."""

_MESSAGES: dict[str, type[Message]] = {"Beat": Beat, "Spent": Spent, "Done": Done, "Failed": Failed}


@dataclass(frozen=True)
class Agents:
    """Where work is done for the coordinator."""

    clock: Clock
    cradle: Cradle = field(default_factory=FreshCradle)

    def work(self, job: Job) -> Iterator[Beat | Spent | Result]:
        """Have a job done by a process of its own: what it reports, and last its result."""
        stderr = Path(job.scratch) / f"{job.id}.err"
        child = self.cradle.start(stderr)
        try:
            faults.point("agent.started")
            child.send(json.dumps(asdict(job)).encode() + b"\n")
            for message in self._messages(child, job, stderr):
                match message:
                    case Done():
                        faults.point("agent.answered")
                        yield _result(job, message)
                        return
                    case Failed():
                        raise _named(message)
                    case _:
                        yield message
            raise _died(child, job, stderr)
        finally:
            child.end()

    def _messages(self, child: Child, job: Job, stderr: Path) -> Iterator[Message]:
        end = self.clock.monotonic() + job.seconds
        buffer = b""
        while True:
            left = end - self.clock.monotonic()
            if left <= 0:
                raise AgentTimedOut(
                    f"the {job.role.value} gave no answer within {job.seconds:g} s", hint=f"see {stderr}"
                )
            chunk = child.hear(min(SILENCE, left))
            if chunk is None and left > SILENCE:
                raise AgentSilent(f"the {job.role.value} was silent for {SILENCE:g} s", hint=f"see {stderr}")
            if chunk == b"":
                return
            *lines, buffer = (buffer + (chunk or b"")).split(b"\n")
            yield from (_message(line) for line in lines)


def _message(line: bytes) -> Message:
    try:
        data: dict[str, Any] = dict(parse(line.decode()))
        return read(_MESSAGES[data.pop("type")], data)
    except (ValueError, KeyError, TypeError, ShapeError) as error:
        raise AgentError(f"a subagent sent something that is no message: {error}") from error


def _result(job: Job, done: Done) -> Result:
    try:
        return from_arguments(job.answering, done.value)
    except Unacceptable as error:
        raise AgentError(f"the {job.role.value} sent a result that cannot be used: {error}") from error


def _named(message: Failed) -> HarnessError:
    kind = getattr(errors, message.error, AgentError)
    if isinstance(kind, type) and issubclass(kind, HarnessError) and kind is not ShapeError:
        return kind(message.message, hint=message.hint)
    return AgentError(message.message, hint=message.hint)


def _died(child: Child, job: Job, stderr: Path) -> AgentDied:
    code = child.exit_code(5.0)
    said = stderr.read_text(errors="replace").strip().splitlines()
    why = said[-1] if said else "it said nothing"
    return AgentDied(
        f"the {job.role.value} ended with code {code} and no answer: {why}", hint=f"see {stderr}"
    )
