"""What a box of bubblewrap consists of: namespaces, mounts, and files made for it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import harness_executor
from harness_executor.sandbox.base import Room
from harness_executor.sandbox.limits import Limits
from harness_executor.sandbox.toolchains import (
    SYSTEM,
    environment_folders,
    interpreter,
    own_folders,
    tool_folders,
)

HOME = Path("/home/harness")
"""The home of commands: empty, and gone with the box."""
OUTPUTS = Path("/run/harness/output")
"""Where long results can be read."""
PROGRAM = Path("/run/harness/program/harness_executor")
"""Where the files of this program are, of which some run in a box."""
BARE = (str(interpreter()), "-I", "-S")
"""A bare interpreter."""
_USER = 1000
"""Who commands are in the box, whoever runs it: programs that refuse to run as root do run."""

_NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--disable-userns", "--die-with-parent", "--new-session", "--as-pid-1"),
    *("--cap-drop", "ALL", "--uid", str(_USER), "--gid", str(_USER), "--hostname", "box"),
)
_ETC = (
    *(
        "alternatives",
        "ca-certificates",
        "ca-certificates.conf",
        "crypto-policies",
        "debian_version",
        "fonts",
    ),
    *(
        "gai.conf",
        "host.conf",
        "java*",
        "ld.so.cache",
        "ld.so.conf",
        "ld.so.conf.d",
        "localtime",
        "locale.alias",
    ),
    *(
        "locale.conf",
        "lsb-release",
        "magic",
        "mime.types",
        "os-release",
        "perl",
        "pki",
        "protocols",
        "python3*",
    ),
    *("services", "ssl", "terminfo", "timezone"),
)
"""What programs read of /etc, none of it about this machine's users, networks or services."""
_FROZEN = ("sys", "fs", "irq", "bus", "acpi", "scsi", "asound", "pressure", "sysrq-trigger")
"""Parts of /proc that the user root could write to without any capability: read only in a box."""
_MASKED = ("keys", "key-users", "kcore", "latency_stats", "sched_debug", "slabinfo", "timer_list")
"""Files of /proc that tell of the whole machine: empty in a box."""
_FILES = {
    "/etc/passwd": f"root:x:0:0:root:/root:/bin/sh\nharness:x:{_USER}:{_USER}::{HOME}:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n",
    "/etc/group": f"root:x:0:\nharness:x:{_USER}:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost box\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\n",
    "/etc/resolv.conf": "",
}

_BOOT = """\
import sys
sys.path.insert(0, {0!r})
from harness_executor.sandbox.inside import main
main(*sys.argv[1:])
"""


@dataclass(frozen=True)
class Profile:
    """The arguments of one box, and the files whose descriptors they name."""

    room: Room
    shown: tuple[Path, ...]
    """Folders outside the system that are shown, to be read only."""
    overlays: bool
    """Can folders be laid over others, so that what is written is thrown away?"""
    limits: Limits

    def arguments(self, files: dict[str, int]) -> list[str]:
        """Everything between the program and the command, given the descriptors of the files."""
        words: list[str] = [*_NAMESPACES, "--dev", "/dev", *_proc(), *_system()]
        for name, descriptor in files.items():
            words += ["--ro-bind-data", str(descriptor), name]
        for place in (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), HOME):  # noqa: S108 - those of the box
            words += ["--perms", "1777", "--size", str(self.limits.tmp), "--tmpfs", str(place)]
        for folder in self.shown:
            words += ["--ro-bind-try", str(folder), str(folder)]
        words += self._ours()
        words += ["--bind" if self.room.writable else "--ro-bind", str(self.room.tree), str(self.room.at)]
        for name, folder in self.room.beside.items():
            words += self._beside(name, folder)
        return [*words, "--remount-ro", "/", "--chdir", str(self.room.at)]

    def _ours(self) -> Iterator[str]:
        yield from ("--ro-bind", str(Path(harness_executor.__file__).parent), str(PROGRAM))
        if self.room.outputs:
            yield from ("--ro-bind", str(self.room.outputs), str(OUTPUTS))

    def _beside(self, name: str, folder: Path) -> Iterator[str]:
        target = str(self.room.at / name)
        if name not in self.room.copied:
            yield from ("--ro-bind", str(folder), target)
        elif self.overlays:
            yield from ("--overlay-src", str(folder), "--tmp-overlay", target)
        else:
            yield from ("--bind", str(folder), target)


def files() -> dict[str, bytes]:
    """The files that are made for a box, by their place."""
    return {place: text.encode() for place, text in _FILES.items()}


def first_command() -> list[str]:
    """What runs as the first process of a box."""
    return [*BARE, "-c", _BOOT.format(str(PROGRAM.parent))]


def shown_folders(room: Room, search_path: str, readable: tuple[Path, ...]) -> tuple[Path, ...]:
    """What a box shows outside of the system and the tree."""
    wanted = (
        *own_folders(),
        *tool_folders(search_path),
        *environment_folders(room.beside.values()),
        *readable,
    )
    return tuple(folder for folder in dict.fromkeys(wanted) if not folder.is_relative_to(room.at))


def _proc() -> Iterator[str]:
    yield from ("--proc", "/proc")
    for place in (Path("/proc", name) for name in _FROZEN):
        if place.exists():
            yield from ("--ro-bind", str(place), str(place))
    for place in (Path("/proc", name) for name in _MASKED):
        if place.exists():
            yield from ("--ro-bind", "/dev/null", str(place))


def _system() -> Iterator[str]:
    for folder in SYSTEM:
        if folder.is_symlink():
            yield from ("--symlink", str(folder.readlink()), str(folder))
        elif folder.is_dir():
            yield from ("--ro-bind", str(folder), str(folder))
    for pattern in _ETC:
        for place in Path("/etc").glob(pattern):
            yield from ("--ro-bind-try", str(place), str(place))
    if Path("/run/current-system").exists():
        yield from ("--ro-bind", os.path.realpath("/run/current-system"), "/run/current-system")
