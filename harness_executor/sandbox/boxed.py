"""A box as its owner sees it: a line for orders, a door for sockets, and the process that it is."""

import json
import os
import select
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import harness_executor
from harness_executor.errors import AgentDied, BoxBroke
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox import egress, keeper, relay
from harness_executor.sandbox.base import Cause, Command, Finished, Room
from harness_executor.sandbox.cgroups import Cgroup
from harness_executor.sandbox.forked import ForkedSandbox
from harness_executor.sandbox.harm import Watch
from harness_executor.sandbox.kept import Kept, run_to_end
from harness_executor.sandbox.limits import Limits
from harness_executor.sandbox.process import Started

_PACKAGE = Path(harness_executor.__file__).parent
_COOKIE = 71
"""SO_NETNS_COOKIE: the number of the network a socket belongs to."""
_LOOK = 0.5
"""Seconds between two looks at the disk."""
_PATIENCE = 20.0
"""Seconds in which a box is there, or says why not."""


@dataclass
class BoxedCommand(Kept):
    """A command in a box; its process id is one of the box, and means nothing here."""

    first: int = 0
    """The first process of the box, as this machine knows it."""

    def pids(self) -> set[int]:
        """Every process of the box."""
        return keeper.children_of({self.first}) if self.exit_code() is None else set()

    def _wake(self) -> None:
        """The first process of the box wakes whom a command has stopped."""


@frozen
class View:
    """How a box looks from within."""

    root: Path
    outputs: Path
    data: Path
    package: Path
    """Where this program's own files are."""
    interpreter: tuple[str, ...]
    env: Mapping[str, str]


@dataclass
class Boxed:
    """A box that is starting or running."""

    is_private = True

    view: View
    process: Started
    line: socket.socket
    door: socket.socket
    status: int
    """Where the program that makes the box says which process is its first."""
    errors: int
    """A file in memory with what it says when it cannot."""
    room: Room
    """What it shows."""
    group: Cgroup | None = None
    """What bounds the box as a whole, where the machine has it."""
    hosts: tuple[str, ...] = ()
    """Hosts that setup steps may reach."""
    limits: Limits = field(default_factory=Limits)
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)
    minder: threading.Thread | None = None
    is_gone: bool = False
    _first: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        self.watch = Watch.begin(self.room.tree, self.group, self.limits)

    @property
    def root(self) -> Path:
        """Where commands see the tree."""
        return self.view.root

    @property
    def outputs(self) -> Path:
        """Where commands see the folder with long results."""
        return self.view.outputs

    @property
    def data(self) -> Path:
        """Where commands see the folder of services."""
        return self.view.data

    def script(self, path: Path) -> tuple[str, ...]:
        """The words that run a file of this program with a bare interpreter."""
        return (*self.view.interpreter, str(self.view.package / path.relative_to(_PACKAGE)))

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a command."""
        return self.room.importing({**self.view.env, **(extra or {})}, self.root)

    def start(self, command: Command) -> BoxedCommand:
        """Start a command and go on; a box that fills the disk meanwhile is ended."""
        begun = self._begin(command)
        if self.minder is None:
            self.minder = threading.Thread(target=self._mind, name="box", daemon=True)
            self.minder.start()
        return begun

    def _begin(self, command: Command) -> BoxedCommand:
        first, _ = self.first()
        try:
            kept = ForkedSandbox(self.line).start(command)
        except AgentDied as error:
            raise self._broke() from error
        return BoxedCommand(kept.hand, kept.report, first=first)

    def run(self, command: Command, seconds: float) -> Finished:
        """Run a command to its end, to the end of its time, or until it does harm."""
        done = run_to_end(
            self._begin, command, seconds, Watch.begin(self.room.tree, self.group, self.limits).harm
        )
        if self.process.wait(0.05 if done.code == -signal.SIGKILL else 0.0) is not None:
            raise self._broke()
        return done

    def _mind(self) -> None:
        while not self.over.wait(_LOOK):
            if self.watch.harm() in (Cause.DISK, Cause.FILES):
                self._kill()
                return

    def _kill(self) -> None:
        with suppress(BoxBroke, ProcessLookupError):
            signal.pidfd_send_signal(self.first()[1], signal.SIGKILL)

    def dial(self, port: int) -> socket.socket:
        """A connection to a port of the box's own loopback, by the older address first; raises OSError."""
        try:
            return self._dial(b"dial %d" % port, ("127.0.0.1", port))
        except ConnectionRefusedError:
            return self._dial(b"dial6 %d" % port, ("::1", port))

    def _dial(self, words: bytes, peer: tuple[str, int]) -> socket.socket:
        made = self._ask(words)
        made.settimeout(10.0)
        if not select.select([], [made], [], 10.0)[1]:
            made.close()
            raise TimeoutError(f"port {peer[1]} of the box does not take the connection")
        failed = made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        is_inet = made.family in (socket.AF_INET, socket.AF_INET6)
        if failed or not is_inet or made.getpeername()[:2] != peer:
            made.close()
            raise ConnectionRefusedError(failed, os.strerror(failed))
        return made

    def inquire(self) -> socket.socket:
        """A socket on which the kernel answers who listens in the box."""
        made = self._ask(b"who")
        if made.family is not socket.AF_NETLINK:
            made.close()
            raise self._broke()
        return made

    def tables(self) -> Path:
        """Where the kernel lists the sockets of the box."""
        return Path(f"/proc/{self.first()[0]}/net")

    @contextmanager
    def leaving(self) -> Iterator[Mapping[str, str]]:
        """Let commands reach the hosts that the user listed, through a proxy outside the box."""
        if not self.hosts:
            yield {}
            return
        with self._ask(b"listen %d" % egress.PORT) as listener, egress.serving(listener, self.hosts):
            yield egress.proxy_environment()

    @contextmanager
    def leading(self, port: int, to: tuple[str, int]) -> Iterator[None]:
        """Let commands reach one address, through a relay outside the box."""
        with self._ask(b"listen %d" % port) as listener, relay.serving(listener, to):
            yield

    def why_ended(self) -> Cause:
        """What the box has done to the machine since it was opened."""
        return self.watch.harm()

    def first(self) -> tuple[int, int]:
        """The first process of the box, and a descriptor of it; waits until it is there."""
        with self.lock:
            if self._first is None:
                self._first = self._hear()
            return self._first

    def close(self) -> bool:
        """Kill the first process, and with it everything; true when nothing is left."""
        if self.over.is_set():
            return self.is_gone
        self.over.set()
        if self.minder:
            self.minder.join()
        self._kill()
        self.line.close()
        self.door.close()
        is_gone = self.process.wait(10.0) is not None
        if not is_gone:
            self.process.end()
        if self._first:
            is_gone = bool(select.select([self._first[1]], [], [], 5.0)[0])
            os.close(self._first[1])
        for descriptor in (self.status, self.errors):
            os.close(descriptor)
        if self.group:
            self.group.remove()
        self.is_gone = is_gone
        return is_gone

    def _hear(self) -> tuple[int, int]:
        said = b""
        while b"}" not in said:
            ready = select.select([self.status], [], [], _PATIENCE)[0]
            more = os.read(self.status, 4096) if ready else b""
            if not more:
                raise self._broke()
            said += more
        pid = int(json.loads(said[: said.index(b"}") + 1])["child-pid"])
        try:
            descriptor = os.pidfd_open(pid)
            if self.group:
                self.group.take(pid)
            self.door.settimeout(_PATIENCE)
            is_up = self.door.recv(8) == b"up"
        except OSError as error:
            raise self._broke() from error
        if not is_up:
            os.close(descriptor)
            raise self._broke()
        return pid, descriptor

    def _ask(self, words: bytes) -> socket.socket:
        """A socket that was made in the box, and belongs to its network and no other."""
        self.first()
        with self.lock:
            try:
                self.door.send(words)
                said, given, _, _ = socket.recv_fds(self.door, 64, 1)
            except OSError as error:
                raise self._broke() from error
        if not said:
            raise self._broke()
        if not given:
            raise OSError(int(said), os.strerror(int(said)))
        made = socket.socket(fileno=given[0])
        if _is_of_one_network(made, self.door):
            made.close()
            raise self._broke()
        return made

    def _broke(self) -> BoxBroke:
        code = self.process.wait(1.0)
        said = os.pread(self.errors, 4000, 0).decode(errors="replace").strip().splitlines()
        how = "" if code is None else f" with code {code}"
        return BoxBroke(
            f"the box ended{how}: {said[-1] if said else 'it said nothing'}",
            hint="`harness doctor` tries the box on this machine",
        )


def _is_of_one_network(made: socket.socket, ours: socket.socket) -> bool:
    """Do two sockets belong to the same network? Kernels before 5.14 do not say."""
    with suppress(OSError):
        return len({one.getsockopt(socket.SOL_SOCKET, _COOKIE, 8) for one in (made, ours)}) == 1
    return False
