"""A warm process that forks subagents: a start costs milliseconds instead of an import.

Started with a control socket as standard input. Each request carries four descriptors (the job, the
messages, standard error, the fate) and is answered with the pid; the fate gets the exit code. What
a subagent leaves is ended, and when the owner is gone, everything is.
"""

import array
import contextlib
import os
import select
import signal
import socket
import sys

from harness_executor.sandbox import keeper
from harness_executor.sandbox.forked import ForkedSandbox, start_keepers
from harness_executor.subagents.warm import warm

DESCRIPTORS = 4
_LINE = 3
"""The descriptor over which a subagent asks for keepers."""


def receive(control: socket.socket) -> list[int] | None:
    """The descriptors of the next request, or nothing when the owner is gone."""
    room = socket.CMSG_SPACE(DESCRIPTORS * array.array("i").itemsize)
    word, extra, _, _ = control.recvmsg(64, room, socket.MSG_CMSG_CLOEXEC)
    if not word:
        return None
    found = array.array("i")
    for _, kind, data in extra:
        if kind == socket.SCM_RIGHTS:
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return list(found)


def fork(line: socket.socket, descriptors: list[int]) -> int:
    """A child that works on one job with its own descriptors."""
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.set_wakeup_fd(-1)
        for sign in (signal.SIGCHLD, signal.SIGCONT):
            signal.signal(sign, signal.SIG_DFL)
        for target, source in enumerate(descriptors[:3]):
            os.dup2(source, target)
        os.dup2(line.fileno(), _LINE, inheritable=False)
        os.closerange(_LINE + 1, max(map(int, os.listdir("/proc/self/fd"))) + 1)  # noqa: PTH208 - names only
        from harness_executor.subagents.worker import main  # noqa: PLC0415 - already loaded, here for its state

        os._exit(main(ForkedSandbox(socket.socket(fileno=_LINE))))
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
    os._exit(70)


class Nursery:
    """Subagents, and the process that keeps their commands."""

    def __init__(self, control: socket.socket, line: socket.socket, kept: int) -> None:
        self.control = control
        self.line = line
        self.kept = kept
        """The process that keeps commands."""
        self.fates: dict[int, int] = {}

    def serve(self) -> None:
        """Fork on request until the owner is gone, or until commands cannot be kept any more."""
        bell = keeper.Bell()
        leave_when_alone()
        while self.tidy():
            ready, _, _ = select.select([self.control.fileno(), bell.wake], [], [])
            bell.quiet()
            if self.control.fileno() in ready and not self.answer():
                return

    def answer(self) -> bool:
        """Fork for one request; false when there is nobody to answer."""
        descriptors = receive(self.control)
        if descriptors is None:
            return False
        pid = fork(self.line, descriptors)
        self.fates[pid] = descriptors[3]
        for descriptor in descriptors[:3]:
            os.close(descriptor)
        self.control.send(str(pid).encode())
        return True

    def tidy(self) -> bool:
        """End what ended subagents have left, and tell their owner; false when commands are not kept."""
        ended = keeper.reap(os.WUNTRACED)
        if ended:
            ended |= keeper.sweep_strangers({self.kept, *self.fates} - set(ended))
        for pid in ended.keys() & self.fates.keys():
            fate = self.fates.pop(pid)
            keeper.tell(fate, b"%d\n" % ended[pid])
            os.close(fate)
        return self.kept not in ended

    def close(self) -> None:
        """End everything that is left, and say so."""
        keeper.sweep()
        for fate in self.fates.values():
            keeper.tell(fate, b"%d\n" % -signal.SIGKILL)


def leave_when_alone() -> None:
    """Have the kernel's word that the owner is gone end everything, whatever is being done."""
    owner = os.getppid()

    def leave(*_: object) -> None:
        if os.getppid() != owner:
            keeper.sweep()
            os._exit(0)

    signal.signal(signal.SIGCONT, leave)


def main() -> None:
    """Warm up, then serve."""
    keeper.stay_to_the_end()
    leave_when_alone()
    control = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    keepers = start_keepers()
    warm(sys.argv[1:])
    nursery = Nursery(control, keepers.line, keepers.process.pid)
    nursery.serve()
    nursery.close()


if __name__ == "__main__":
    main()
    # at once: taking the interpreter down would cost time in which it still stands
    os._exit(0)
