"""What a sandbox is: a place where a command runs and leaves nothing behind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness_executor.kernel.report import Assurance


@dataclass(frozen=True)
class Command:
    """A command of a project or of a model."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None
    """Where its output goes; at most `log_limit` bytes are kept."""
    log_limit: int = 16_000_000


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    output: str
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        """Ended by itself, with code 0."""
        return self.code == 0 and not self.timed_out


class Running(Protocol):
    """A command that is running, with everything it started."""

    def pids(self) -> set[int]:
        """Every process of the command, its children and theirs."""
        ...

    def exit_code(self) -> int | None:
        """The code of the command, once it ended."""
        ...

    def wait(self, seconds: float) -> int | None:
        """The code of the command if it ends within this time."""
        ...

    def stop(self, grace: float) -> bool:
        """End everything, politely and then not; true when nothing is left."""
        ...


class Sandbox(Protocol):
    """A place where commands run."""

    assurance: Assurance

    def start(self, command: Command) -> Running:
        """Start a command and go on."""
        ...

    def run(self, command: Command, seconds: float) -> Finished:
        """Run a command to its end, or to the end of its time."""
        ...
