"""The box of macOS, a profile for `sandbox-exec`: written after its manual, and never run.

Nothing here has been tried on a Mac. The keepers that commands run under know Linux only, so a trial on macOS
ends with its first layer, and `choose` refuses rather than trust it. What the profile is meant to hold: the
system and the tree can be read, the tree and a home of its own written to, and no network is there but
loopback, which it shares with the machine; other processes can be seen.
"""

import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import harness_executor
from harness_executor.config import safe_environment
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Command, Finished, Room
from harness_executor.sandbox.kept import Kept, run_to_end
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.sandbox.profile import BARE, shown_folders
from harness_executor.sandbox.toolchains import visible_path
from harness_executor.sandbox.trying import LAYERS
from harness_executor.sandbox.unboxed import Unboxed

PROGRAM = "/usr/bin/sandbox-exec"

_SYSTEM = ("/usr", "/bin", "/sbin", "/System", "/Library", "/opt", "/private/etc", "/private/var/db")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_BASE = """\
(version 1)
(deny default)
(allow process-fork)
(allow process-exec)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow network-bind (local ip "localhost:*"))
(allow network-inbound (local ip "localhost:*"))
(allow network-outbound (remote ip "localhost:*"))
"""


def profile(readable: Iterable[Path], writable: Iterable[Path]) -> str:
    """The text of a profile: nothing is allowed that is not said here."""
    both = tuple(writable)
    shown = (*map(Path, _SYSTEM), *readable, *both)
    lines = (f"(allow file-read* {_below(place)})" for place in shown)
    made = (f"(allow file-write* {_below(place)})" for place in both)
    devices = (f"(allow file-read* file-write-data (literal {_quoted(place)}))" for place in _DEVICES)
    return _BASE + "".join(f"{line}\n" for line in (*lines, *made, *devices))


def _below(place: Path) -> str:
    # the profile knows places without links only, and /tmp and /var are links there
    return f"(subpath {_quoted(str(place.resolve()))})"


def _quoted(text: str) -> str:
    """A text of the profile's language; one that could end itself early is escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@frozen
class Seatbelt:
    """Runs every command under `sandbox-exec`."""

    program: str = PROGRAM
    readable: tuple[str, ...] = ()
    """Folders the user wants to be shown, besides what commands need."""
    assurance = Assurance.UNSANDBOXED
    hosts: ClassVar[tuple[str, ...]] = ()
    layers = LAYERS

    def open(self, room: Room) -> "Belted":
        """A box for a tree."""
        place = Path(tempfile.mkdtemp(prefix=".box-", dir=room.tree.parent))
        mine = safe_environment()
        shown = shown_folders(room, mine["PATH"], tuple(map(Path, self.readable)))
        path = visible_path((*shown, *room.beside.values()))
        env = {"PATH": path, "HOME": str(place), "TMPDIR": str(place)}
        ours = (Path(harness_executor.__file__).parent, *([room.outputs] if room.outputs else []))
        text = profile(
            (*shown, *ours, *room.beside.values(), room.tree),
            (place, *([room.tree] if room.writable else []), *([room.data] if room.data else [])),
        )
        return Belted(PlainSandbox(), room, env, (self.program, "-p", text), place)


@frozen
class Belted(Unboxed):
    """The tree where it lies, with the profile in front of each of its commands."""

    env: Mapping[str, str]
    words: tuple[str, ...]
    place: Path
    """The home of commands and their temporary files; it goes with the box."""

    def script(self, path: Path) -> tuple[str, ...]:
        """The words that run a file of this program with a bare interpreter."""
        return (*BARE, str(path))

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a command."""
        return self.room.importing({**self.env, **(extra or {})}, self.root)

    def start(self, command: Command) -> Kept:
        """Start a command and go on."""
        return PlainSandbox().start(replace(command, argv=(*self.words, *command.argv)))

    def run(self, command: Command, seconds: float) -> Finished:
        """Run a command to its end, or to the end of its time."""
        return run_to_end(self.start, command, seconds)

    def close(self) -> bool:
        """Remove what is its own; every command ends with its keeper."""
        shutil.rmtree(self.place, ignore_errors=True)
        return True
