"""What a box of bubblewrap consists of: namespaces, mounts, and files made for it."""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import harness_executor
from harness_executor.sandbox.base import Room
from harness_executor.sandbox.limits import Limits
from harness_executor.sandbox.toolchains import (
    SYSTEM,
    environment_folders,
    interpreter,
    lies_in,
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
ETC = (
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
_FOR_ALL = 0o004
"""May everyone read it? What not everyone may read is not shown, for a box of root is root to files."""
_FROZEN = ("sys", "fs", "irq", "bus", "acpi", "scsi", "asound", "pressure", "dynamic_debug", "sysrq-trigger")
"""Parts of /proc that the user root could write to without any capability: read only in a box."""
_MASKED = ("keys", "key-users", "kcore", "latency_stats", "sched_debug", "slabinfo", "timer_list")
"""Files of /proc that tell of the whole machine: empty in a box, like those that not everyone may read."""
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
    copies: Mapping[str, Path]
    """Copies of what may be written to; without one, it is laid over by a folder in memory."""
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
        elif name in self.copies:
            yield from ("--bind", str(self.copies[name]), target)
        else:
            yield from ("--overlay-src", str(folder), "--tmp-overlay", target)


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
        *tool_folders(search_path, room.at),
        *environment_folders(room.beside.values()),
        *readable,
    )
    return tuple(folder for folder in dict.fromkeys(wanted) if not lies_in(folder, room.at))


def _proc() -> Iterator[str]:
    yield from ("--proc", "/proc")
    for place in (path for path in sorted(Path("/proc").iterdir()) if not path.name.isdigit()):
        mode = place.lstat().st_mode
        is_file, is_writable = stat.S_ISREG(mode), stat.S_ISREG(mode) and mode & 0o222
        if place.name in _MASKED or (is_file and not mode & _FOR_ALL):
            yield from ("--ro-bind", os.devnull, str(place))
        elif place.name in _FROZEN or is_writable:
            yield from ("--ro-bind", str(place), str(place))


@lru_cache(maxsize=64)
def _hidden(shown: Path) -> tuple[str, ...]:
    """The words that hide what not everyone may read below a folder."""
    words: list[str] = []
    for folder, names, files in os.walk(shown):
        private = [name for name in names if not _mode(folder, name) & _FOR_ALL]
        names[:] = [name for name in names if name not in private]
        for name in private:
            words += ["--perms", "0555", "--tmpfs", f"{folder}/{name}", "--remount-ro", f"{folder}/{name}"]
        for name in files:
            if not _mode(folder, name) & _FOR_ALL:
                words += ["--ro-bind", os.devnull, f"{folder}/{name}"]
    return tuple(words)


def _mode(folder: str, name: str) -> int:
    """Of a link, that is everyone's to read; of one that is gone meanwhile, too."""
    with suppress(OSError):
        return os.lstat(f"{folder}/{name}").st_mode
    return _FOR_ALL


def _system() -> Iterator[str]:
    for folder in SYSTEM:
        if folder.is_symlink():
            yield from ("--symlink", str(folder.readlink()), str(folder))
        elif folder.is_dir():
            yield from ("--ro-bind", str(folder), str(folder))
    for pattern in ETC:
        for place in filter(_is_for_all, Path("/etc").glob(pattern)):
            yield from ("--ro-bind-try", str(place), str(place))
            yield from _hidden(place)
    if Path("/run/current-system").exists():
        yield from ("--ro-bind", os.path.realpath("/run/current-system"), "/run/current-system")


def _is_for_all(place: Path) -> bool:
    return place.exists() and bool(place.stat().st_mode & _FOR_ALL)
