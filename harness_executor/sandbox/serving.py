"""A warm process that has a keeper ready for everyone who asks: a command costs no interpreter.

Standard input is a socket. Each message on it is a request, with four descriptors: the text of the
order, the hand, the report and the log; and two more where streams are kept apart.
"""

import array
import gc
import os
import select
import socket

from harness_executor.sandbox.keeper import (
    Bell,
    Keeper,
    Order,
    Runner,
    Spawner,
    reap,
    stay_to_the_end,
    sweep,
    sweep_strangers,
    tell,
)

DESCRIPTORS = (4, 6)
LONELY = 71
"""The exit code of a keeper that nobody can ask any more."""


def receive(line: socket.socket) -> Order | None:
    """The next request, if it is a whole one; raises EOFError when there is nobody left to ask."""
    room = socket.CMSG_SPACE(max(DESCRIPTORS) * array.array("i").itemsize)
    try:
        # close-on-exec from the first moment: a command that had its report could forge its exit code
        word, extra, _, _ = line.recvmsg(16, room, socket.MSG_CMSG_CLOEXEC | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    if not word:
        raise EOFError
    given = array.array("i")
    for _, kind, data in extra:
        if kind == socket.SCM_RIGHTS:
            given.frombytes(data[: len(data) - len(data) % given.itemsize])
    if len(given) not in DESCRIPTORS:
        for descriptor in given:
            os.close(descriptor)
        return None
    text, *ends = given
    order = Order(os.pread(text, os.fstat(text).st_size, 0), *ends)
    os.close(text)
    return order


def stand_ready(line: socket.socket, word: int, keeper: Keeper) -> None:
    """Keep one command after the other until there is nobody left to ask."""
    server = os.getppid()
    while True:
        select.select([line.fileno(), keeper.bell.wake], [], [], 1.0)
        keeper.bell.quiet()
        if os.getppid() != server:
            raise EOFError
        order = receive(line)
        if order:
            tell(word, b"+%d\n" % os.getpid())
            keeper.keep(order)
            keeper.get_ready()
            tell(word, b"-%d\n" % os.getpid())


class Server:
    """Has a keeper for everyone who asks."""

    make: type[Runner | Spawner] = Runner
    """How the keepers start a command."""

    def __init__(self, line: socket.socket) -> None:
        self.owner = os.getppid()
        stay_to_the_end()
        self.line = line
        self.bell = Bell()
        self.heard, self.word = os.pipe()
        self.keepers: set[int] = set()
        self.busy: set[int] = set()

    def serve(self) -> None:
        """Stand until the owner is gone; leave nothing."""
        gc.freeze()
        gc.disable()
        while os.getppid() == self.owner and self.tidy():
            # one that is ready hears the line itself
            asked = [self.line.fileno()] if self.keepers <= self.busy else []
            ready, _, _ = select.select([self.bell.wake, self.heard, *asked], [], [], 1.0)
            self.bell.quiet()
            if self.heard in ready:
                self.listen()
            elif self.line.fileno() in ready:
                self.fork()
        sweep()

    def listen(self) -> None:
        """Hear which keepers have work, and which are ready again."""
        for line in os.read(self.heard, 4096).splitlines():
            pid = int(line[1:])
            self.busy = self.busy | {pid} if line[:1] == b"+" else self.busy - {pid}

    def fork(self) -> None:
        """Have another keeper ready."""
        try:
            pid = os.fork()
        except OSError:
            select.select([], [], [], 0.05)
            return
        if pid:
            self.keepers.add(pid)
            return
        try:
            os.close(self.bell.wake)
            os.close(self.heard)
            stand_ready(self.line, self.word, Keeper(self.make))
        except EOFError:
            sweep()
            os._exit(LONELY)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(70)

    def tidy(self) -> bool:
        """Collect keepers that ended, kill what killed ones have left; false when nobody can ask any more."""
        ended = reap(os.WUNTRACED)
        if any(ended.values()):
            ended |= sweep_strangers(self.keepers - set(ended))
        lonely = [pid for pid in self.keepers & set(ended) if ended[pid] == LONELY]
        self.keepers -= set(ended)
        return not lonely


def main() -> None:
    """Serve on standard input."""
    line = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    Server(line).serve()


if __name__ == "__main__":
    main()
    os._exit(0)
