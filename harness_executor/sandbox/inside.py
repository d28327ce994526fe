"""The first process of a box: keeps its commands, and hands out connections to what they serve.

Runs with a bare interpreter as process 1 of the box, where no command can stop, kill or trace it.
Standard input is the line on which orders come; the arguments are the door, on which the owner asks for
sockets of this network and first hears that all is up, and the limits of every process.
When the owner lets go of line and door, this process ends, and the kernel ends the rest.
"""

import ctypes
import errno
import gc
import os
import select
import signal
import socket
import sys

from harness_executor.sandbox.keeper import POLITE, Bell, Spawner, nothing
from harness_executor.sandbox.rlimits import lower
from harness_executor.sandbox.serving import Server

_PR_SET_DUMPABLE = 4
_SOCK_DIAG = 4


class First(Server):
    """Process 1: everything of the box is below it, and goes with it."""

    make = Spawner

    def __init__(self, line: socket.socket, door: socket.socket) -> None:
        for sign in POLITE:
            signal.signal(sign, nothing)
        self.owner = os.getppid()
        self.line = line
        self.bell = Bell()
        self.heard, self.word = os.pipe()
        self.keepers: set[int] = set()
        self.busy: set[int] = set()
        self.door = door

    def serve(self) -> None:
        """Stand until the owner is gone."""
        gc.freeze()
        gc.disable()
        self.door.send(b"up")
        watched = [self.bell.wake, self.heard, self.door.fileno()]
        while self.tidy():
            asked = [self.line.fileno()] if self.keepers <= self.busy else []
            ready, _, _ = select.select([*watched, *asked], [], [])
            self.bell.quiet()
            if self.heard in ready:
                self.listen()
            elif self.line.fileno() in ready:
                self.fork()
            if self.door.fileno() in ready and not self.open_door():
                return

    def open_door(self) -> bool:
        """Give the owner the socket it asks for; false when it is gone."""
        asked = self.door.recv(64)
        if not asked:
            return False
        try:
            word, _, number = asked.partition(b" ")
            with MAKERS[word](int(number or 0)) as made:
                socket.send_fds(self.door, [b"0"], [made.fileno()])
        except OSError as error:
            self.door.send(b"%d" % (error.errno or errno.EIO))
        return True


def _dial(port: int) -> socket.socket:
    return _connecting(socket.AF_INET, "127.0.0.1", port)


def _dial6(port: int) -> socket.socket:
    return _connecting(socket.AF_INET6, "::1", port)


def _connecting(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    made.settimeout(0)
    code = made.connect_ex((host, port))
    if code not in (0, errno.EINPROGRESS):
        made.close()
        raise OSError(code, os.strerror(code))
    return made


def _inquiry(_: int) -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG)


def _listening(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("127.0.0.1", port))
    made.listen(64)
    return made


MAKERS = {b"dial": _dial, b"dial6": _dial6, b"who": _inquiry, b"listen": _listening}
"""What the owner can ask for."""


def _taken(number: str) -> socket.socket:
    made = socket.socket(fileno=int(number))
    made.set_inheritable(False)
    return made


def main(door: str, *limits: str) -> None:
    """Serve a box, within its limits; nothing in it may look into this process."""
    lower(*map(int, limits))
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    line = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    First(line, _taken(door)).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)
