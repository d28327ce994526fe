"""A tree whose commands run as the user, with the user's files and network: no box."""

import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from harness_executor.config import safe_environment
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox import relay
from harness_executor.sandbox.base import Cause, Command, Finished, Room, Running

_SOCK_DIAG = 4


class Runner(Protocol):
    """Something that runs commands as the user."""

    assurance: Assurance

    def start(self, command: Command) -> Running:
        """Start a command and go on."""
        ...

    def run(self, command: Command, seconds: float) -> Finished:
        """Run a command to its end, or to the end of its time."""
        ...


@frozen
class Unboxed:
    """The tree where it lies, with links to what the project has beside it."""

    runner: Runner
    room: Room
    is_private = False

    def __post_init__(self) -> None:
        for name, folder in self.room.beside.items():
            place = self.room.tree / name
            with suppress(OSError):
                place.symlink_to(folder)

    @property
    def root(self) -> Path:
        """Where commands see the tree."""
        return self.room.tree

    @property
    def outputs(self) -> Path:
        """Where commands see the folder with long results."""
        return self.room.outputs or self.room.tree

    @property
    def data(self) -> Path:
        """Where commands see the folder of services."""
        return self.room.data or self.room.tree

    def script(self, path: Path) -> tuple[str, ...]:
        """The words that run a file of this program with a bare interpreter."""
        return (sys.executable, "-I", "-S", str(path))

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a command."""
        return self.room.importing(safe_environment(extra), self.root)

    def start(self, command: Command) -> Running:
        """Start a command and go on."""
        return self.runner.start(command)

    def run(self, command: Command, seconds: float) -> Finished:
        """Run a command to its end, or to the end of its time."""
        return self.runner.run(command, seconds)

    def dial(self, port: int) -> socket.socket:
        """A connection to a port at this machine's loopback, by the older address first."""
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=10.0)
        except ConnectionRefusedError:
            return socket.create_connection(("::1", port), timeout=10.0)

    def inquire(self) -> socket.socket:
        """A socket on which the kernel answers who listens on this machine."""
        return socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG)

    def tables(self) -> Path:
        """Where the kernel lists the sockets of this machine."""
        return Path("/proc/net")

    @contextmanager
    def leaving(self) -> Iterator[Mapping[str, str]]:
        """Commands reach what the user reaches."""
        yield {}

    @contextmanager
    def leading(self, port: int, to: tuple[str, int]) -> Iterator[None]:
        """The same relay as a box has, so that an address is reached in the same way."""
        with socket.create_server(("127.0.0.1", port)) as listener, relay.serving(listener, to):
            yield

    def why_ended(self) -> Cause:
        """Nothing is known here."""
        return Cause.NONE

    def close(self) -> bool:
        """Nothing is kept: every command ends with its keeper."""
        return True
