"""Runs one command and outlives nothing: when its owner goes, everything it started goes too.

Started by file name with a bare interpreter, so it imports nothing of the package.
Standard input is the owner's hand: `T` asks politely, its end means kill. The arguments are the
descriptor that gets the exit code when nothing is left, the bytes of output that are kept, the
folder, and the command.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Output:
    """What the command says, on its way to the log; what does not fit there is dropped."""

    def __init__(self, room: int) -> None:
        self.source, self.sink = os.pipe()
        os.set_blocking(self.source, False)
        self.room = room

    def pass_on(self) -> bool:
        """Move one piece; false when there is none."""
        try:
            said = os.read(self.source, 65_536)
        except BlockingIOError:
            return False
        with contextlib.suppress(OSError):
            os.write(1, said[: self.room])
        self.room = max(0, self.room - len(said))
        return True


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


def own_children() -> set[int]:
    """The processes right below us; quicker than any of them can fork and end."""
    with contextlib.suppress(OSError), open(f"/proc/self/task/{os.getpid()}/children", "rb") as children:  # noqa: PTH123 - as above
        return {int(pid) for pid in children.read().split()}
    return set()


def kill_all(pids: set[int], sign: int) -> None:
    """Send a signal to processes, of which some may be gone."""
    for pid in pids:
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


def is_alone() -> bool:
    """Is nothing left? Orphans become our children, so without a child there is no descendant."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def given_environment() -> dict[bytes, bytes]:
    """The environment as the owner gave it; the interpreter adds to its own in the C locale."""
    with open("/proc/self/environ", "rb") as given:  # noqa: PTH123 - as above
        pairs = [pair.partition(b"=") for pair in given.read().split(b"\0") if pair]
    return {name: value for name, _, value in pairs}


def start(folder: str, argv: list[str], sink: int) -> int:
    """Start the command in a session of its own."""
    keeper = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != keeper:
            os._exit(127)
        os.setsid()
        for target, source in enumerate((os.open("/dev/null", os.O_RDONLY), sink, sink)):
            os.dup2(source, target)
        environment = given_environment()
        os.chdir(folder)
        for sign in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(sign, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execvpe(argv[0], argv, environment)  # noqa: S606 - the command is the point
    except OSError as error:
        os.write(2, os.fsencode(f"cannot start {argv[0]} in {folder}: {error.strerror}\n"))
    os._exit(127)


def watch(main: int, output: Output) -> int:
    """Wait until the command ends or the owner is gone."""
    wake, ring = os.pipe()
    os.set_blocking(ring, False)
    signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        code = reap(main)
        if code is not None:
            return code
        ready, _, _ = select.select([0, wake, output.source], [], [], 1.0)
        if output.source in ready:
            output.pass_on()
        if wake in ready:
            os.read(wake, 512)
        if 0 in ready:
            word = os.read(0, 1)
            if word != b"T":
                return -signal.SIGKILL
            kill_all(children_of({os.getpid()}), signal.SIGTERM)


def sweep() -> None:
    """Kill until nothing is left; what the process table shows too late is met here as an orphan."""
    while not is_alone():
        kill_all(own_children(), signal.SIGKILL)
        kill_all(children_of({os.getpid()}), signal.SIGKILL)
        reap(0)
        select.select([], [], [], 0.002)


def main(argv: list[str]) -> int:
    """Keep one command."""
    report, room, folder, *command = argv
    os.set_inheritable(int(report), False)  # noqa: FBT003 - it takes no names
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # blocked, not ignored: one that is meant for the command waits until it has started
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    output = Output(int(room))
    try:
        code = watch(start(folder, command, output.sink), output)
    finally:
        sweep()
    while output.pass_on():
        pass
    with contextlib.suppress(OSError):
        os.write(int(report), f"{code}\n".encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
