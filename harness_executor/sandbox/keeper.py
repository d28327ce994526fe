"""Runs one command and outlives nothing: when its owner goes, everything it started goes too.

Started by file name with a bare interpreter, so it imports nothing of the package. A keeper has a
hand of its owner, where `T` asks politely and the end means kill; a report, which gets its process
id, and the exit code of the command when nothing is left; and a log, and where streams are kept apart
one for errors, and what the command reads. Started by itself it has the hand as standard input and the
log as standard output; the arguments are the report with the two others, the room in each log, the
folder and the command.
"""

import contextlib
import ctypes
import errno
import os
import select
import signal
import sys
from collections.abc import Callable, Iterable

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
POLITE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
DEFAULT = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
"""Signals that a command hears as any program does, whatever Python, `nohup` or a shell ignores."""
NOT_STARTED = 127


class Order:
    """What to run, for whom.

    The text is the room in the log, the folder, the number of words, the words and the environment,
    each ended by a NUL.
    """

    def __init__(self, text: bytes, hand: int, report: int, log: int, *streams: int) -> None:
        self.text = text
        self.hand = hand
        self.report = report
        self.log = log
        self.streams = streams
        """The log of errors and what the command reads, where these are kept apart."""


class Output:
    """What the command says, on its way to the log; what does not fit there is dropped."""

    def __init__(self, log: int = -1, room: int = 0) -> None:
        self.source, self.sink = os.pipe()
        os.set_blocking(self.source, False)
        self.log = log
        self.room = room

    def pass_on(self) -> bool:
        """Move one piece; false when there is none."""
        try:
            said = os.read(self.source, 65_536)
        except BlockingIOError:
            return False
        with contextlib.suppress(OSError):
            os.write(self.log, said[: self.room])
        self.room = max(0, self.room - len(said))
        return True


class Bell:
    """Rings when a child has ended, or when the kernel says that the parent has."""

    def __init__(self) -> None:
        self.wake, ring = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(ring, False)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        for sign in (signal.SIGCHLD, signal.SIGCONT):
            signal.signal(sign, nothing)

    def quiet(self) -> None:
        """Wait for the next ring."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake, 4096)


def nothing(*_: object) -> None:
    """Do nothing about a signal; unlike ignoring it, no command inherits this."""


def prctl(option: int, value: int, more: int = 0) -> int:
    """Tell the kernel something about this process; below 0 when it does not take it."""
    words = [ctypes.c_ulong(word) for word in (value, more, 0, 0)]
    return int(ctypes.CDLL(None, use_errno=True).prctl(option, *words))


def stay_to_the_end() -> None:
    """Take what descendants leave, hear no polite signal, and be woken when the parent ends."""
    for sign in POLITE:
        signal.signal(sign, nothing)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    # a signal that also wakes a process which its own command has stopped
    prctl(PR_SET_PDEATHSIG, signal.SIGCONT)


def parents() -> dict[int, int]:
    """The parent of every process, from one look at the process table."""
    found: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib is not loaded here
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123 - as above
                found[int(name)] = int(stat.read().rsplit(b")", 1)[1].split()[1])
    return found


def children_of(roots: set[int], table: dict[int, int] | None = None) -> set[int]:
    """Every process below these."""
    return set(descending(roots, table))


def descending(roots: set[int], table: dict[int, int] | None = None) -> list[int]:
    """Every process below these, each after the one that started it."""
    table = parents() if table is None else table
    found: list[int] = []
    known = latest = set(roots)
    while latest:
        latest = {child for child, parent in table.items() if parent in latest} - known
        found += latest
        known = known | latest
    return found


def own_children() -> set[int]:
    """The processes right below us; quicker than any of them can fork and end."""
    with contextlib.suppress(OSError), open(f"/proc/self/task/{os.getpid()}/children", "rb") as children:  # noqa: PTH123 - as above
        return {int(pid) for pid in children.read().split()}
    return set()


def kill_all(pids: Iterable[int], sign: int) -> None:
    """Send a signal to processes in turn, of which some may be gone."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, sign)


def reap(stopped: int = 0) -> dict[int, int]:
    """Collect ended children with their exit codes; with WUNTRACED, let those go on that were stopped."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG | stopped)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        if os.WIFSTOPPED(status):
            kill_all({pid}, signal.SIGCONT)
        else:
            ended[pid] = os.waitstatus_to_exitcode(status)


def is_alone() -> bool:
    """Is nothing left? Orphans become our children, so without a child there is no descendant."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def sweep() -> None:
    """Kill until nothing is left; what the process table shows too late is met here as an orphan."""
    while not is_alone():
        kill_all(own_children(), signal.SIGKILL)
        kill_all(children_of({os.getpid()}), signal.SIGKILL)
        reap()
        if own_children():
            select.select([], [], [], 0.002)


def strangers(known: set[int]) -> set[int]:
    """What is below us and below none that we know: the orphans of one that was killed."""
    table = parents()
    roots = (own_children() | {pid for pid, parent in table.items() if parent == os.getpid()}) - known
    return roots | children_of(roots, table)


def sweep_strangers(known: set[int]) -> dict[int, int]:
    """Kill all strangers; gives the known that ended meanwhile."""
    ended: dict[int, int] = {}
    while found := strangers(known - set(ended)):
        kill_all(found, signal.SIGKILL)
        ended |= {pid: code for pid, code in reap().items() if pid in known}
    return ended


class Runner:
    """The process of the command: forked ahead of it, and told later what to become."""

    def __init__(self, sink: int, *streams: int) -> None:
        told, self.tell = os.pipe()
        # blocked until it has become the command: a signal that is meant for that waits for it
        signal.pthread_sigmask(signal.SIG_BLOCK, POLITE)
        keeper = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            become(keeper, (told, self.tell), sink, streams)
        os.close(told)

    def release(self, text: bytes) -> None:
        """Tell it what to run."""
        with contextlib.suppress(BrokenPipeError):
            while text:
                text = text[os.write(self.tell, text) :]
        os.close(self.tell)


class Spawner:
    """Starts the command when it is told to: quicker, where nobody has to see that it dies with us."""

    def __init__(self, sink: int, *streams: int) -> None:
        self.sink = sink
        self.errors, self.given = streams or (sink, -1)
        self.pid = 0

    def release(self, text: bytes) -> None:
        """Start what is asked for, in a session of its own; whoever reads the output hears if it fails."""
        asked = Asked(text)
        nothing_to_read = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
        given = [
            nothing_to_read if self.given < 0 else (os.POSIX_SPAWN_DUP2, self.given, 0),
            (os.POSIX_SPAWN_DUP2, self.sink, 1),
            (os.POSIX_SPAWN_DUP2, self.errors, 2),
        ]
        try:
            os.chdir(asked.folder)
            self.pid = asked.first_of(
                lambda path: os.posix_spawn(
                    path,
                    asked.argv,
                    asked.environment,
                    file_actions=given,
                    setsid=True,
                    setsigmask=(),
                    setsigdef=DEFAULT,
                )
            )
        except OSError as error:
            os.write(self.errors, asked.complaint(error))
        finally:
            os.chdir("/")


def become(keeper: int, line: tuple[int, int], sink: int, streams: tuple[int, ...]) -> None:
    """Wait for the text of a request and become its command, in a session of its own."""
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != keeper:
            os._exit(NOT_STARTED)
        os.setsid()
        told, tell = line
        os.close(tell)
        errors, given = streams or (sink, os.open("/dev/null", os.O_RDONLY))
        for target, source in enumerate((given, sink, errors)):
            os.dup2(source, target)
        for sign in DEFAULT:
            signal.signal(sign, signal.SIG_DFL)
        text = b""
        while more := os.read(told, 65_536):
            text += more
        turn_into(Asked(text))
    except OSError as error:
        os.write(2, os.fsencode(f"{error}\n"))
    finally:
        os._exit(NOT_STARTED)


def turn_into(asked: "Asked") -> None:
    """Run a command in place of this process."""
    try:
        os.chdir(asked.folder)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        asked.first_of(lambda path: os.execve(path, asked.argv, asked.environment))  # noqa: S606 - that is the point
    except OSError as error:
        os.write(2, asked.complaint(error))


class Asked:
    """The command of an order: where, what, and with which environment."""

    def __init__(self, text: bytes) -> None:
        self.folder, words, *rest = text.split(b"\0")[1:-1]
        self.argv, pairs = tuple(rest[: int(words)]), rest[int(words) :]
        self.environment = {name: value for name, _, value in (pair.partition(b"=") for pair in pairs)}

    def first_of(self, start: Callable[[bytes], int]) -> int:
        """Start the first program that is there, as a shell finds it; raises the reason it is none."""
        reason: OSError | None = None
        tries = self._tries()
        # looking is far cheaper than trying to become what is not there
        for path in [path for path in tries if os.path.exists(path)] or tries:  # noqa: PTH110 - pathlib is not loaded here
            try:
                return start(path)
            except (FileNotFoundError, NotADirectoryError) as error:
                reason = reason or error
            except OSError as error:
                reason = error
        raise reason or FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def complaint(self, error: OSError) -> bytes:
        """Why it could not be started."""
        return b"cannot start %b in %b: %b\n" % (self.argv[0], self.folder, (error.strerror or "").encode())

    def _tries(self) -> list[bytes]:
        if b"/" in self.argv[0]:
            return [self.argv[0]]
        places = self.environment.get(b"PATH", os.fsencode(os.defpath)).split(b":")
        return [os.path.join(place, self.argv[0]) for place in places]  # noqa: PTH118 - as above


def watch(main: int, order: Order, outputs: list[Output], bell: Bell) -> int:
    """Wait until the command ends or the owner is gone."""
    parent = os.getppid()
    while True:
        ended = reap()
        if main in ended:
            return ended[main]
        if os.getppid() != parent:
            return -signal.SIGKILL
        sources = [output.source for output in outputs]
        ready, _, _ = select.select([order.hand, bell.wake, *sources], [], [], 1.0)
        for output in [output for output in outputs if output.source in ready]:
            output.pass_on()
        if bell.wake in ready:
            bell.quiet()
        if order.hand in ready:
            if os.read(order.hand, 1) != b"T":
                return -signal.SIGKILL
            # a shell whose child ended first would go on after its `wait`, and end before it is asked
            kill_all(descending({os.getpid()}), signal.SIGTERM)


class Keeper:
    """One that is ready to keep a command."""

    def __init__(self, make: Callable[..., Runner | Spawner] = Runner) -> None:
        stay_to_the_end()
        self.bell = Bell()
        self.make = make
        self.get_ready()

    def get_ready(self) -> None:
        """Have a process that can become the next command."""
        self.output = Output()
        self.runner = self.make(self.output.sink)

    def keep(self, order: Order) -> None:
        """Keep one command to its end, with everything it started."""
        self.output.log, self.output.room = order.log, int(order.text.split(b"\0", 1)[0])
        outputs, runner = [self.output], self.runner
        tell(order.report, b"%d\n" % os.getpid())
        if order.streams:
            errors, given = order.streams
            outputs.append(Output(errors, self.output.room))
            # the one that is ready has no such streams; it goes with the rest
            runner = self.make(self.output.sink, outputs[1].sink, given)
        try:
            runner.release(order.text)
            code = watch(runner.pid, order, outputs, self.bell) if runner.pid else NOT_STARTED
        finally:
            sweep()
        for output in outputs:
            while output.pass_on():
                pass
        tell(order.report, b"%d\n" % code)
        if order.streams and isinstance(self.runner, Runner):
            os.close(self.runner.tell)
        ends = [end for output in outputs for end in (output.source, output.sink)]
        for end in (order.hand, order.report, order.log, *order.streams, *ends):
            os.close(end)


def tell(report: int, words: bytes) -> None:
    """Say something, if anybody listens."""
    with contextlib.suppress(OSError):
        os.write(report, words)


def keep_one(report: str, *words: str) -> None:
    """Keep the command of the arguments, with the environment this process was given."""
    told, *streams = map(int, report.split(","))
    for end in (told, *streams):
        os.set_inheritable(end, False)  # noqa: FBT003 - it takes no names
    room, folder, *argv = [os.fsencode(word) for word in words]
    # not the interpreter's own environment: to that one it adds in the C locale
    with open("/proc/self/environ", "rb") as given:  # noqa: PTH123 - pathlib is not loaded here
        environment = given.read()
    text = b"".join(part + b"\0" for part in (room, folder, b"%d" % len(argv), *argv))
    Keeper().keep(Order(text + environment, 0, told, 1, *streams))


if __name__ == "__main__":
    keep_one(*sys.argv[1:])
    os._exit(0)
