"""Run commands in the tree."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from harness_executor.config import safe_environment
from harness_executor.kernel.canonical import STRICT
from harness_executor.sandbox.base import Command, Finished, Sandbox
from harness_executor.tools.base import Place, Tool


@dataclass(frozen=True)
class Shell:
    """What to run."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    command: str
    seconds: int = 120
    """Time it may take."""


@dataclass(frozen=True)
class Terminal:
    """Where commands of a subagent run."""

    place: Place
    sandbox: Sandbox
    log: Path

    def run(self, command: str, seconds: float) -> Finished:
        """Run a command; whatever it starts ends with it."""
        return self.sandbox.run(
            Command(("sh", "-c", command), self.place.root, safe_environment(), self.log), seconds
        )

    def tools(self) -> tuple[Tool, ...]:
        """The shell as a tool."""
        return (Tool("shell", "Run a shell command in the project.", Shell, self._shell),)

    def _shell(self, ask: Shell) -> str:
        done = self.run(ask.command, min(max(1, ask.seconds), 600))
        ended = "ran out of time" if done.timed_out else f"exit code {done.code}"
        return f"{done.output}\n[{ended}]"
