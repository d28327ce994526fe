"""Jobs for scripted models, and a look at the processes they leave."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from harness_executor.subagents.jobs import Answering, Beat, Job, Role, Spent, Stumbled, Wants
from harness_executor.subagents.replies import Result
from harness_executor.subagents.spawn import Agents

SUCCESS = {"status": "success", "summary": "added the route"}
WORKER = "$(cut -d' ' -f4 /proc/$PPID/stat)"
"""In a shell tool's command: the subagent's process, two above the shell."""

Heard = Beat | Wants | Spent | Stumbled | Result
Replies = list[Mapping[str, Any]]


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """A reply that uses one tool."""
    return {"calls": [{"name": tool, "arguments": arguments}]}


def submit(result: Mapping[str, Any] = SUCCESS) -> dict[str, Any]:
    """A reply that hands over a result."""
    return call("submit_result", **result)


def working(agents: Agents, job: Job) -> Iterator[Heard]:
    """What is heard of a job whose every call is granted, and last its result."""
    with agents.work(job) as work:
        for message in work:
            yield message
            if isinstance(message, Wants):
                work.grant(message.call)


@dataclass(frozen=True)
class Office:
    """A tree to work in, and a folder for logs beside it."""

    tree: Path
    scratch: Path

    def job(self, *replies: Mapping[str, Any], **changes: Any) -> Job:
        """A job for an executor whose model plays these replies."""
        script = self.scratch / "script.json"
        roles = {role.value: [{"replies": replies}] for role in Role}
        script.write_text(json.dumps(roles), encoding="utf-8")
        job = Job(
            id="job",
            role=Role.EXECUTOR,
            answering=Answering.WORK,
            model=f"scripted:{script}",
            prompt="add a route",
            root=str(self.tree),
            scratch=str(self.scratch),
            may_write=True,
        )
        return replace(job, **changes)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """An empty tree."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "scratch").mkdir()
    return Office(tmp_path / "tree", tmp_path / "scratch")


@dataclass(frozen=True)
class Sleepers:
    """Commands that sleep under a name of their own, so that they can be found among all processes."""

    seconds: str = field(default_factory=lambda: f"1000.{uuid4().int % 10**15}")

    @property
    def command(self) -> str:
        """Sleep in the foreground, in the background and in a session of its own."""
        return f"setsid sleep {self.seconds} & sleep {self.seconds} & exec sleep {self.seconds}"

    def pids(self) -> set[int]:
        """Those that are there now."""
        return {pid for pid in processes() if _command_line(pid)[:1] == ["sleep"] and self._is_ours(pid)}

    def _is_ours(self, pid: int) -> bool:
        return self.seconds in _command_line(pid)


@pytest.fixture
def sleepers() -> Sleepers:
    """Processes with a name of their own."""
    return Sleepers()


def processes() -> set[int]:
    """Every process that is there and not merely unburied."""
    return {int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and _lives(path)}


def _lives(process: Path) -> bool:
    try:
        state = (process / "stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def _command_line(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []
