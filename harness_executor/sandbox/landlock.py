"""A fence for machines of Linux without user namespaces: Landlock and filters of system calls, no new root.

What it holds: commands read the system, the installed programs and the tree, and write to the tree and to
a home of their own, nothing else; they make no connection, and reach no socket, process, memory or terminal
of the machine. They run under keepers that stand outside, where no command can signal or trace them.

What it cannot hold, so that evidence says `unsandboxed`: a server in it listens on the machine's own
network, where whoever can reach the machine can reach it; the names, sizes and times of files outside can
be asked for, though not what is in them; and the permissions and times of the user's own files can be
changed. The tree stays where it lies, and the folders beside it are links.
What it takes from programs: connections over loopback, sockets of UDP, sockets among the files, watching
files, shared memory, and most of `/proc`.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import ClassVar

import harness_executor
from harness_executor.config import safe_environment
from harness_executor.errors import AgentDied, BoxBroke
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox import fence, seccomp, sharing
from harness_executor.sandbox.base import Cause, Command, Finished, Room
from harness_executor.sandbox.cgroups import Cgroup
from harness_executor.sandbox.forked import ForkedSandbox, Keepers, start_keepers
from harness_executor.sandbox.harm import Watch
from harness_executor.sandbox.kept import Kept, run_to_end
from harness_executor.sandbox.limits import Limits
from harness_executor.sandbox.profile import BARE, ETC, shown_folders
from harness_executor.sandbox.toolchains import SYSTEM, visible_path
from harness_executor.sandbox.trying import LAYERS
from harness_executor.sandbox.unboxed import Unboxed

_PACKAGE = Path(harness_executor.__file__).parent
_KEPT = ("LANG", "LC_ALL", "TZ")
_NAMES = ("passwd", "group", "hosts", "nsswitch.conf")
"""Files of /etc that programs ask for names; every user of the machine can read them."""
_TOLD = ("cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "filesystems", "sys")
"""What of /proc tells of the machine, and of no process."""
_BEYOND = {"names of files", "capability bound", "network of its own"}
"""Layers that need namespaces, or a root to begin with."""
_SPARED = {"GIT_CONFIG_NOSYSTEM": "1"}
"""A file that is there and may not be read is the end of git."""
_BOOT = """\
import sys
sys.path.insert(0, {0!r})
from harness_executor.sandbox.fence import main
main(*sys.argv[1:])
"""


@frozen
class Landlock:
    """Puts every command behind a fence."""

    readable: tuple[str, ...] = ()
    """Folders the user wants to be shown, besides what commands need."""
    limits: Limits = field(default_factory=Limits)
    least: int = 6
    """The version of Landlock that is asked for; before 6 it holds no signals."""
    assurance = Assurance.UNSANDBOXED
    hosts: ClassVar[tuple[str, ...]] = ()
    layers = tuple(layer for layer in LAYERS if layer not in _BEYOND)

    def open(self, room: Room) -> "Fenced":
        """A box for a tree."""
        found = fence.version()
        if found < self.least:
            raise BoxBroke(
                f"the kernel has version {found} of Landlock, and {self.least} is needed",
                hint="use Linux 6.12 or newer with Landlock turned on, or bubblewrap",
            )
        place = Path(tempfile.mkdtemp(prefix=".box-", dir=room.tree.parent))
        for name in ("home", "tmp"):
            (place / name).mkdir()
        env = {"HOME": str(place / "home"), "TMPDIR": str(place / "tmp"), **_SPARED}
        mine = safe_environment()
        shown = shown_folders(room, mine["PATH"], tuple(map(Path, self.readable)))
        env |= {name: mine[name] for name in _KEPT if name in mine}
        env["PATH"] = visible_path((*shown, *room.beside.values()))
        readable = (*_system(), *shown, _PACKAGE, *room.beside.values())
        group = Cgroup.make("box", self.limits)
        keepers = start_keepers()
        if group:
            with suppress(OSError):
                group.take(keepers.process.pid)
        words = self._words(room, place, readable)
        return Fenced(ForkedSandbox(keepers.line), room, env, words, keepers, place, self.limits, group)

    def _words(self, room: Room, place: Path, readable: tuple[Path, ...]) -> tuple[str, ...]:
        """The words in front of every command."""
        kept = [room.data] if room.data else []
        writable = (place, *kept, *([room.tree] if room.writable else []))
        shown = [*readable, *([room.outputs] if room.outputs else []), *kept, room.tree]
        memory, processes, *others = self.limits.of_process()
        limits = (memory, processes + _tasks_of_user(), *others)
        machine = os.uname().machine
        filters = (seccomp.program(machine), sharing.program(machine))
        return (
            *(*BARE, "-c", _BOOT.format(str(_PACKAGE.parent))),
            ",".join(map(str, limits)),
            ",".join(program.hex() for program in filters),
            *(str(len(shown)), str(len(writable)), *map(str, shown), *map(str, writable)),
        )


@frozen
class Fenced(Unboxed):
    """The tree where it lies, with a fence around each of its commands."""

    env: Mapping[str, str]
    words: tuple[str, ...]
    """What puts a command behind the fence."""
    keepers: Keepers
    place: Path
    """A folder with the home of commands and their temporary files; it goes with the box."""
    limits: Limits
    group: Cgroup | None
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "watch", Watch.begin(self.room.tree, self.group, self.limits))

    def script(self, path: Path) -> tuple[str, ...]:
        """The words that run a file of this program with a bare interpreter."""
        return (*BARE, str(path))

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a command."""
        return self.room.importing({**self.env, **(extra or {})}, self.root)

    def start(self, command: Command) -> Kept:
        """Start a command and go on."""
        try:
            return ForkedSandbox(self.keepers.line).start(replace(command, argv=(*self.words, *command.argv)))
        except AgentDied as error:
            raise BoxBroke(
                "the box ended: its keepers are gone", hint="`harness doctor` tries the box on this machine"
            ) from error

    def run(self, command: Command, seconds: float) -> Finished:
        """Run a command to its end, to the end of its time, or until it does harm."""
        return run_to_end(
            self.start, command, seconds, Watch.begin(self.room.tree, self.group, self.limits).harm
        )

    def why_ended(self) -> Cause:
        """What the box has done to the machine since it was opened."""
        return self.watch.harm()

    def close(self) -> bool:
        """End every command, with whatever it started; true when nothing is left."""
        self.keepers.line.close()
        is_gone = self.keepers.process.wait(10.0) == 0
        if not is_gone:
            self.keepers.process.end()
        if self.group:
            self.group.remove()
        shutil.rmtree(self.place, ignore_errors=True)
        return is_gone


def _system() -> tuple[Path, ...]:
    """What every user of the machine can read, as far as programs need it."""
    listed = (place for pattern in (*ETC, *_NAMES) for place in Path("/etc").glob(pattern))
    told = (Path("/proc") / name for name in _TOLD)
    return (*SYSTEM, *listed, *told, Path("/sys/devices/system/cpu"), Path("/run/current-system"))


def _tasks_of_user() -> int:
    """Processes and threads of this user, which count against the limit where there is no namespace."""
    found = 0
    for place in Path("/proc").iterdir():
        with suppress(OSError):
            if place.name.isdigit() and place.stat().st_uid == os.getuid():
                found += int((place / "stat").read_text().rpartition(")")[2].split()[17])
    return found
