"""Runs one command and outlives nothing: when its owner goes, everything it started goes too.

Started by file name with a bare interpreter, so it imports nothing of the package.
Standard input is the owner's hand: `T` asks politely, its end means kill. The first argument
is the descriptor that gets the exit code, when nothing is left.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys

PR_SET_CHILD_SUBREAPER = 36


def children_of(roots: set[int]) -> set[int]:
    """Every process below these, from one look at the process table."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib is not loaded here
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123 - as above
                parents[int(name)] = int(stat.read().rsplit(b")", 1)[1].split()[1])
    found = set(roots)
    grown = True
    while grown:
        more = {child for child, parent in parents.items() if parent in found and child not in found}
        found |= more
        grown = bool(more)
    return found - roots


def kill_all(sign: int) -> None:
    """Send a signal to every descendant."""
    for pid in children_of({os.getpid()}):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, sign)


def reap(main: int) -> int | None:
    """Collect ended children; the exit code of the main one if it is among them."""
    code = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if pid == 0:
            return code
        if pid == main:
            code = os.waitstatus_to_exitcode(status)


def start(argv: list[str], report: int) -> int:
    """Start the command in a session of its own."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.close(report)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        for sign in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM):
            signal.signal(sign, signal.SIG_DFL)
        os.execvp(argv[0], argv)  # noqa: S606 - the command is the point
    except OSError as error:
        os.write(2, f"cannot start {argv[0]}: {error.strerror}\n".encode())
    os._exit(127)


def watch(main: int) -> int:
    """Wait until the command ends or the owner is gone."""
    wake, ring = os.pipe()
    os.set_blocking(ring, False)
    signal.set_wakeup_fd(ring)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        code = reap(main)
        if code is not None:
            return code
        ready, _, _ = select.select([0, wake], [], [], 1.0)
        if wake in ready:
            os.read(wake, 512)
        if 0 in ready:
            word = os.read(0, 1)
            if word != b"T":
                return -signal.SIGKILL
            kill_all(signal.SIGTERM)


def sweep() -> None:
    """Kill until nothing is left."""
    while children_of({os.getpid()}):
        kill_all(signal.SIGKILL)
        reap(0)
        select.select([], [], [], 0.005)


def main(argv: list[str]) -> int:
    """Keep one command."""
    report = int(argv[0])
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    code = watch(start(argv[1:], report))
    sweep()
    with contextlib.suppress(OSError):
        os.write(report, f"{code}\n".encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
