"""The process of a subagent: reads one job, works, and sends one result."""

import ctypes
import os
import resource
import signal
import sys
import threading
from dataclasses import asdict
from pathlib import Path

from harness_executor.clock import SystemClock
from harness_executor.config import known_passwords, known_secrets
from harness_executor.errors import HarnessError
from harness_executor.kernel.canonical import parse
from harness_executor.providers.base import Provider
from harness_executor.providers.metered import Metered
from harness_executor.providers.recorded import Recorded
from harness_executor.providers.registry import Recording, check, connect, split
from harness_executor.providers.retrying import Retrying, Stumble
from harness_executor.redaction import Redactor
from harness_executor.resources import guide
from harness_executor.sandbox.base import Room, Sandbox
from harness_executor.sandbox.choice import NONE
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.shapes import read, schema
from harness_executor.subagents.jobs import Answering, Done, Failed, Job, Stumbled
from harness_executor.subagents.line import Line, LinePurse
from harness_executor.subagents.loop import Conversation
from harness_executor.subagents.mailbox import Letter
from harness_executor.subagents.replies import Result
from harness_executor.subagents.submission import submit_tool
from harness_executor.tools.base import Place, Tool
from harness_executor.tools.files import reading_tools, writing_tools
from harness_executor.tools.search import searching_tools
from harness_executor.tools.shell import Terminal

_PR_SET_PDEATHSIG = 1


def main(unboxed: Sandbox | None = None) -> int:
    """Work on the job that stands on standard input; without a box, its commands run as they are told."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    private = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    job = read(Job, parse(sys.stdin.readline()))
    redactor = Redactor((*known_secrets(), *job.secrets), known_passwords())
    line = Line(private, redactor)
    threading.Thread(target=line.listen, args=(sys.stdin,), daemon=True).start()
    threading.Thread(target=line.keep_beating, daemon=True).start()
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (job.memory, most))
    try:
        sandbox = unboxed if unboxed and job.boxing.kind == NONE else job.boxing.sandbox()
        line.say(Done(asdict(_work(job, line, redactor, sandbox))))
    except MemoryError:
        words = f"the {job.role.value} needed more than {job.memory >> 20} MiB"
        line.say(Failed("AgentOutOfMemory", words, "split the request into smaller ones"))
    except HarnessError as error:
        line.say(Failed(type(error).__name__, error.message, error.hint))
    return 0


def prepare() -> None:
    """Make what every job needs and no job changes, so that a fork need not."""
    schema(Job)
    schema(Letter)
    for answering in Answering:
        submit_tool(answering)
    place = Place(Path("/"), Path("/"))
    box = PlainSandbox().open(Room(Path("/"), Path("/")))
    terminal = Terminal(place, box, Path("/"))
    for tool in (*reading_tools(place), *writing_tools(place), *searching_tools(place, box)):
        schema(tool.argument)
    for tool in terminal.tools():
        schema(tool.argument)


def _work(job: Job, line: Line, redactor: Redactor, sandbox: Sandbox) -> Result:
    place = Place(
        Path(job.root),
        Path(job.scratch) / f"{job.id}-output",
        shown=Path(job.at) if job.at else None,
        beside={name: Path(folder).resolve() for name, folder in job.beside.items() if "/" not in name},
    )
    place.spill.mkdir(parents=True, exist_ok=True)
    box = sandbox.open(job.room(place.spill))
    terminal = Terminal(place, box, Path(job.scratch) / f"{job.id}-shell.log")
    conversation = Conversation(
        job=job,
        provider=_provider(job, line, redactor),
        system=guide(job.role.value),
        model=split(job.model)[1],
        tools=_tools(job, place, terminal),
        terminal=terminal,
        say=line.say,
        mailbox=line.mailbox,
        clean=redactor.clean_known,
    )
    try:
        return conversation.run()
    finally:
        terminal.close()
        box.close()


def _provider(job: Job, line: Line, redactor: Redactor) -> Provider:
    """The model of a job: recorded, paid for, and asked again when it stumbles."""
    check(job.model, {split(job.model)[0]: job.service} if job.service else {})
    recording = Recording(job.recording, job.at or job.root)
    model = connect(job.model, job.service, line.count, recording, job.call_seconds)
    recorded = Recorded(model, Path(job.scratch) / "calls", redactor, job.at or job.root)
    metered = Metered(recorded, LinePurse(line, recorded))

    def stumbled(stumble: Stumble) -> None:
        line.say(Stumbled(metered.calls, **asdict(stumble)))

    return Retrying(metered, job.patience, SystemClock(), stumbled)


def _tools(job: Job, place: Place, terminal: Terminal) -> tuple[Tool, ...]:
    looking = (*reading_tools(place), *searching_tools(place, terminal.box))
    return (*looking, *writing_tools(place), *terminal.tools()) if job.may_write else looking


if __name__ == "__main__":
    sys.exit(main())
