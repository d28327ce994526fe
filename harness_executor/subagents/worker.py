"""The process of a subagent: reads one job, works, and sends one result."""

import ctypes
import json
import os
import signal
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import IO

from harness_executor.clock import SystemClock
from harness_executor.errors import HarnessError
from harness_executor.kernel.canonical import parse
from harness_executor.providers.registry import connect, split
from harness_executor.resources import guide
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.shapes import read
from harness_executor.subagents.jobs import Beat, Done, Failed, Job, Message
from harness_executor.subagents.loop import Conversation
from harness_executor.subagents.replies import Result
from harness_executor.tools.base import Tool
from harness_executor.tools.files import reading_tools, writing_tools
from harness_executor.tools.search import searching_tools
from harness_executor.tools.shell import Terminal

BEAT_SECONDS = 2.0
_PR_SET_PDEATHSIG = 1


class Line:
    """The line to the coordinator; everything else this process prints goes elsewhere."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream
        self.lock = threading.Lock()
        self.last = Beat(0, "starting")

    def say(self, message: Message) -> None:
        """Send one message."""
        if isinstance(message, Beat):
            self.last = message
        with self.lock:
            self.stream.write(json.dumps({"type": type(message).__name__, **asdict(message)}) + "\n")
            self.stream.flush()

    def keep_beating(self) -> None:
        """Say again and again what is being done."""
        clock = SystemClock()
        while True:
            clock.sleep(BEAT_SECONDS)
            self.say(self.last)


def main() -> int:
    """Work on the job that stands on standard input."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    private = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    line = Line(private)
    job = read(Job, parse(sys.stdin.readline()))
    threading.Thread(target=_die_with_coordinator, daemon=True).start()
    threading.Thread(target=line.keep_beating, daemon=True).start()
    try:
        line.say(Done(asdict(_work(job, line))))
    except HarnessError as error:
        line.say(Failed(type(error).__name__, error.message, error.hint))
    return 0


def _work(job: Job, line: Line) -> Result:
    root = Path(job.root)
    terminal = Terminal(root, PlainSandbox(), Path(job.scratch) / f"{job.id}-shell.log")
    conversation = Conversation(
        job=job,
        provider=connect(job.model),
        system=guide(job.role.value),
        model=split(job.model)[1],
        tools=_tools(job, root, terminal),
        terminal=terminal,
        say=line.say,
    )
    return conversation.run()


def _tools(job: Job, root: Path, terminal: Terminal) -> tuple[Tool, ...]:
    looking = (*reading_tools(root), *searching_tools(root))
    return (*looking, *writing_tools(root), *terminal.tools()) if job.may_write else looking


def _die_with_coordinator() -> None:
    while sys.stdin.read(1):
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
