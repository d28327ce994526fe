"""No box either: keepers are forked from a warm process, so that a command costs no interpreter."""

import array
import errno
import os
import socket
import sys
from typing import ClassVar

from harness_executor import faults
from harness_executor.errors import AgentDied
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Command, Finished, Room
from harness_executor.sandbox.kept import Kept, open_log, open_streams, run_to_end
from harness_executor.sandbox.process import Started, start_with_socket
from harness_executor.sandbox.unboxed import Unboxed

_SERVER = "harness_executor.sandbox.serving"
_LONGEST = 131_072
"""Bytes of one word of a command that the kernel takes."""


@frozen
class Keepers:
    """The warm process that keepers are forked from, and the socket it is asked over."""

    process: Started
    line: socket.socket

    def close(self) -> None:
        """End it, with whatever it still keeps."""
        self.line.close()
        if self.process.wait(5) is None:
            self.process.end()


def start_keepers() -> Keepers:
    """Start the warm process; it knows nothing of the environment."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = start_with_socket([sys.executable, "-P", "-m", _SERVER], {}, theirs)
    return Keepers(process, ours)


@frozen
class ForkedSandbox:
    """Runs commands as the user, each under a keeper that was forked."""

    line: socket.socket
    assurance = Assurance.UNSANDBOXED
    hosts: ClassVar[tuple[str, ...]] = ()

    def open(self, room: Room) -> Unboxed:
        """The tree where it lies."""
        return Unboxed(self, room)

    def start(self, command: Command) -> Kept:
        """Start a command and go on."""
        text = _text(command)
        log = open_log(command.log)
        held, hand = os.pipe()
        report, told = os.pipe()
        order = os.memfd_create("order")
        given = (order, held, told, log, *open_streams(command, log))
        try:
            os.write(order, text)
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", given))
            self.line.sendmsg([b"keep"], [rights])
        except OSError as error:
            os.close(hand)
            os.close(report)
            if isinstance(error, ConnectionError):
                raise AgentDied("commands cannot be kept any more", hint="try `harness resume`") from error
            raise
        finally:
            for descriptor in given:
                os.close(descriptor)
        faults.point("process.started")
        return Kept(hand, report)

    def run(self, command: Command, seconds: float) -> Finished:
        """Run a command to its end, or to the end of its time."""
        return run_to_end(self.start, command, seconds)


def _text(command: Command) -> bytes:
    argv = [os.fsencode(word) for word in command.argv]
    pairs = [os.fsencode(f"{name}={value}") for name, value in command.env.items()]
    numbers = (str(command.log_limit).encode(), os.fsencode(command.cwd), str(len(argv)).encode())
    if any(b"\0" in part for part in (*numbers, *argv, *pairs)):
        raise ValueError("embedded null byte")
    if any(len(part) >= _LONGEST for part in (*argv, *pairs)):
        raise OSError(errno.E2BIG, os.strerror(errno.E2BIG))
    return b"".join(part + b"\0" for part in (*numbers, *argv, *pairs))
