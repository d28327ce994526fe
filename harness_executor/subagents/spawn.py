"""Starts a subagent for a job, listens to it, and ends it."""

import json
import select
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import Any

from harness_executor import errors, faults
from harness_executor.clock import Clock
from harness_executor.config import model_environment
from harness_executor.errors import (
    AgentDied,
    AgentError,
    AgentSilent,
    AgentTimedOut,
    HarnessError,
    ShapeError,
)
from harness_executor.kernel.canonical import parse
from harness_executor.sandbox.process import spawn
from harness_executor.shapes import read
from harness_executor.subagents.jobs import Beat, Done, Failed, Job, Message, Spent
from harness_executor.subagents.replies import Result, Unacceptable, from_arguments

SILENCE = 60.0
"""Seconds without a heartbeat after which a subagent counts as gone."""

_MESSAGES: dict[str, type[Message]] = {"Beat": Beat, "Spent": Spent, "Done": Done, "Failed": Failed}


@dataclass(frozen=True)
class Agents:
    """Where subagents come from."""

    clock: Clock

    def work(self, job: Job) -> Iterator[Beat | Spent | Result]:
        """Have a job done by a process of its own: what it reports, and last its result."""
        stderr = Path(job.scratch) / f"{job.id}.err"
        process = spawn(
            [sys.executable, "-P", "-m", "harness_executor.subagents.worker"],
            env=_environment(),
            stderr=stderr,
        )
        try:
            faults.point("agent.started")
            _send(process, job)
            for message in self._messages(process, job, stderr):
                match message:
                    case Done():
                        faults.point("agent.answered")
                        yield _result(job, message)
                        return
                    case Failed():
                        raise _named(message)
                    case _:
                        yield message
            raise _died(process, job, stderr)
        finally:
            _end(process)

    def _messages(self, process: Popen[bytes], job: Job, stderr: Path) -> Iterator[Message]:
        assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
        end = self.clock.monotonic() + job.seconds
        buffer = b""
        while True:
            left = end - self.clock.monotonic()
            if left <= 0:
                raise AgentTimedOut(
                    f"the {job.role.value} gave no answer within {job.seconds:g} s", hint=f"see {stderr}"
                )
            if not select.select([process.stdout], [], [], min(SILENCE, left))[0]:
                if left > SILENCE:
                    raise AgentSilent(
                        f"the {job.role.value} was silent for {SILENCE:g} s", hint=f"see {stderr}"
                    )
                continue
            chunk = process.stdout.read1(65536)  # type: ignore[attr-defined] # a pipe is a BufferedReader
            if not chunk:
                return
            *lines, buffer = (buffer + chunk).split(b"\n")
            yield from (_message(line) for line in lines)


def _environment() -> dict[str, str]:
    return {**model_environment(), "PYTHONSAFEPATH": "1"}


def _send(process: Popen[bytes], job: Job) -> None:
    assert process.stdin is not None  # noqa: S101 - it was opened as a pipe
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(asdict(job)).encode() + b"\n")
        process.stdin.flush()


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


def _died(process: Popen[bytes], job: Job, stderr: Path) -> AgentDied:
    with suppress(TimeoutExpired):
        process.wait(5)
    said = stderr.read_text(errors="replace").strip().splitlines()
    why = said[-1] if said else "it said nothing"
    return AgentDied(
        f"the {job.role.value} ended with code {process.returncode} and no answer: {why}",
        hint=f"see {stderr}",
    )


def _end(process: Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with suppress(OSError):
                pipe.close()
