"""What a sandbox is: it opens boxes, places where commands run and leave nothing behind."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from socket import socket
from typing import Protocol

from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.frozen import frozen


class Cause(StrEnum):
    """What ended a command that did not end by itself."""

    NONE = ""
    TIME = "it ran out of time"
    OUTPUT = "it printed more than is kept"
    MEMORY = "it needed more memory than it may have"
    PROCESSES = "it started more processes than it may have"
    DISK = "it was filling the disk"
    FILES = "it made more files than it may"
    HANGS = "it hangs"


@frozen
class Command:
    """A command of a project or of a model."""

    argv: tuple[str, ...]
    cwd: Path
    """A folder as commands of the box see it."""
    env: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None
    """Where its output goes; at most `log_limit` bytes are kept."""
    log_limit: int = 16_000_000
    errors: Path | None = None
    """Where its error output goes, when that is kept apart; as much of it is kept."""
    stdin: bytes = b""
    """What it reads."""
    is_overdue: Callable[[], bool] = lambda: False
    """Asked now and then while it is run to its end: is it waited for in vain?"""


@frozen
class Finished:
    """How a command ended."""

    code: int
    output: str
    cause: Cause = Cause.NONE

    @property
    def ok(self) -> bool:
        """Ended by itself, with code 0."""
        return self.code == 0 and not self.cause


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


@frozen
class Room:
    """What a box shows of this machine besides its system."""

    tree: Path
    """An exported tree."""
    at: Path
    """Where the tree appears: the place of the project itself."""
    beside: Mapping[str, Path] = field(default_factory=dict)
    """Folders of the project that git does not know, with installed packages, by their place in the tree."""
    copied: frozenset[str] = frozenset()
    """Those of them whose list of packages was changed: they take writes that never reach the user's own."""
    outputs: Path | None = None
    """A folder that may be read, with results that were too long to send."""
    writable: bool = True
    """May the tree be written to?"""
    data: Path | None = None
    """A folder beside the tree that may be written to: what services of this box keep."""
    names: tuple[str, ...] = ()
    """Names of hosts that lead to the box itself: what programs call the services that run in it."""
    imports: tuple[str, ...] = ()
    """Folders of the tree that hold what is also installed as a copy, which Python would import instead."""
    linked: tuple[str, ...] = ()
    """Folders of the project that an editable install leads to, whatever tree the command runs in."""

    def importing(self, env: Mapping[str, str], root: Path) -> dict[str, str]:
        """The same variables, so that Python imports from the tree, which commands see at `root`."""
        places = (*self.imports, *(() if root == self.at else self.linked))
        if not places:
            return dict(env)
        before = [str(root / place) for place in dict.fromkeys(places)]
        return {**env, "PYTHONPATH": os.pathsep.join(filter(None, (*before, env.get("PYTHONPATH"))))}


class Box(Protocol):
    """A place where the commands of one tree run, and nothing else does."""

    is_private: bool
    """Has it a network and processes of its own, which go with it?"""

    @property
    def root(self) -> Path:
        """Where commands see the tree."""
        ...

    @property
    def outputs(self) -> Path:
        """Where commands see the folder with long results, if it is shown at all."""
        ...

    @property
    def data(self) -> Path:
        """Where commands see the folder of services, if there is one."""
        ...

    def script(self, path: Path) -> tuple[str, ...]:
        """The words that run a file of this program with a bare interpreter."""
        ...

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a command: no key, no token, no setting of ours."""
        ...

    def start(self, command: Command) -> Running:
        """Start a command and go on."""
        ...

    def run(self, command: Command, seconds: float) -> Finished:
        """Run a command to its end, or to the end of its time."""
        ...

    def dial(self, port: int) -> socket:
        """A connection to a port at 127.0.0.1, as commands of the box see it; raises OSError."""
        ...

    def inquire(self) -> socket:
        """A socket on which the kernel answers who listens in the box."""
        ...

    def tables(self) -> Path:
        """Where the kernel lists the sockets of the box, if it does not answer."""
        ...

    def leaving(self) -> AbstractContextManager[Mapping[str, str]]:
        """Let commands reach the hosts that the user listed; gives the variables that lead them there."""
        ...

    def leading(self, port: int, to: tuple[str, int]) -> AbstractContextManager[None]:
        """Let commands reach one address of the user's, and nothing else, at a port of their own loopback."""
        ...

    def why_ended(self) -> Cause:
        """What the box knows of why something in it was killed."""
        ...

    def close(self) -> bool:
        """End everything in it; true when nothing is left."""
        ...


class Sandbox(Protocol):
    """Something that opens boxes."""

    assurance: Assurance

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that setup steps may reach."""
        ...

    def open(self, room: Room) -> Box:
        """A box for a tree."""
        ...
