"""A warm process that forks subagents: a start costs milliseconds instead of an import.

Started with a control socket as standard input. Each request carries four descriptors (the job, the
messages, standard error, the fate) and is answered with the pid; the fate gets the exit code.
"""

import array
import contextlib
import os
import select
import signal
import socket
import sys

from harness_executor.subagents.warm import warm

DESCRIPTORS = 4


def receive(control: socket.socket) -> list[int] | None:
    """The descriptors of the next request, or nothing when the owner is gone."""
    room = socket.CMSG_SPACE(DESCRIPTORS * array.array("i").itemsize)
    word, extra, _, _ = control.recvmsg(64, room)
    if not word:
        return None
    found = array.array("i")
    for _, kind, data in extra:
        if kind == socket.SCM_RIGHTS:
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return list(found)


def fork(control: socket.socket, descriptors: list[int]) -> int:
    """A child that works on one job with its own descriptors."""
    pid = os.fork()
    if pid:
        return pid
    try:
        control.close()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for target, source in enumerate(descriptors[:3]):
            os.dup2(source, target)
        os.closerange(3, max(descriptors) + 1)
        from harness_executor.subagents.worker import main  # noqa: PLC0415 - already loaded, here for its state

        os._exit(main())
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
    os._exit(70)


def reap(fates: dict[int, int]) -> None:
    """Tell each ended child's owner how it ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        fate = fates.pop(pid, None)
        if fate is not None:
            with contextlib.suppress(OSError):
                os.write(fate, f"{os.waitstatus_to_exitcode(status)}\n".encode())
            os.close(fate)


def serve(control: socket.socket) -> None:
    """Fork on request until the owner is gone."""
    wake, ring = os.pipe()
    os.set_blocking(ring, False)
    signal.set_wakeup_fd(ring)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    fates: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control.fileno(), wake], [], [])
        if wake in ready:
            os.read(wake, 512)
            reap(fates)
        if control.fileno() in ready:
            descriptors = receive(control)
            if descriptors is None:
                break
            pid = fork(control, descriptors)
            fates[pid] = descriptors[3]
            for descriptor in descriptors[:3]:
                os.close(descriptor)
            control.send(str(pid).encode())
    for pid in fates:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def main() -> int:
    """Warm up, then serve."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    control = socket.socket(fileno=os.dup(0))
    warm(sys.argv[1:])
    serve(control)
    return 0


if __name__ == "__main__":
    sys.exit(main())
