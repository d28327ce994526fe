"""What a box of bubblewrap consists of: namespaces, mounts, and files made for it."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import harness_executor
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Room
from harness_executor.sandbox.limits import Limits
from harness_executor.sandbox.toolchains import (
    SYSTEM,
    environment_folders,
    interpreter,
    is_wide,
    own_folders,
    parts_of,
    tool_folders,
)

HOME = Path("/home/harness")
"""The home of commands: empty, and gone with the box."""
OUTPUTS = Path("/run/harness/output")
"""Where long results can be read."""
DATA = Path("/run/harness/data")
"""Where services keep what they know."""
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
    *("alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version"),
    *("dotnet", "fonts", "gai.conf", "host.conf", "java*", "ld.so.cache", "ld.so.conf"),
    *("ld.so.conf.d", "localtime", "locale.alias", "locale.conf", "lsb-release", "magic"),
    *("maven/logging", "maven/m2.conf", "mime.types", "os-release", "perl", "php/*/cli"),
    *("php/*/mods-available", "pki/ca-trust", "pki/java", "pki/tls/cert.pem", "pki/tls/certs"),
    *("pki/tls/openssl.cnf", "protocols", "python3*", "services", "ssl/*.cnf", "ssl/*.pem"),
    *("ssl/certs", "ssl/openssl.cnf.d", "terminfo", "timezone", "xattr.conf"),
)
"""What programs read of /etc: nothing about this machine's users, networks, services or private keys."""
_FOR_ALL = 0o004
"""May everyone read it? What not everyone may read is not shown, for a box of root is root to files."""
_FROZEN = ("sys", "fs", "irq", "bus", "acpi", "scsi", "asound", "pressure", "dynamic_debug", "sysrq-trigger")
"""Parts of /proc that the user root could write to without any capability: read only in a box."""
_MASKED = ("keys", "key-users", "kcore", "latency_stats", "sched_debug", "slabinfo", "timer_list")
"""Files of /proc that tell of the whole machine: empty in a box, like those that not everyone may read."""
_HOSTS = "/etc/hosts"
_FILES = {
    "/etc/passwd": f"root:x:0:0:root:/root:/bin/sh\nharness:x:{_USER}:{_USER}::{HOME}:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n",
    "/etc/group": f"root:x:0:\nharness:x:{_USER}:\nnogroup:x:65534:\n",
    _HOSTS: "127.0.0.1 localhost box\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\n",
    "/etc/resolv.conf": "",
}

_BOOT = """\
import sys
sys.path.insert(0, {0!r})
from harness_executor.sandbox.inside import main
main(*sys.argv[1:])
"""


@frozen
class Packages:
    """How installed packages are shown: to be read, or so that what is written is thrown away."""

    stores: Mapping[str, Path]
    """Those of the user, by their place in the home of commands."""
    laid_over: frozenset[str]
    """Folders, by their place in the tree or home, over which a folder in memory is laid."""
    copies: Mapping[str, Path]
    """Copies of those that have to take writes and cannot be laid over."""


@frozen
class Profile:
    """The arguments of one box, and the files whose descriptors they name."""

    room: Room
    shown: tuple[Path, ...]
    """Folders outside the system that are shown, to be read only."""
    packages: Packages
    limits: Limits

    def arguments(self, files: dict[str, int]) -> list[str]:
        """Everything between the program and the command, given the descriptors of the files."""
        words: list[str] = [*_NAMESPACES, "--dev", "/dev", *_machine()]
        for name, descriptor in files.items():
            words += ["--ro-bind-data", str(descriptor), name]
        for place in (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), HOME):  # noqa: S108 - those of the box
            words += ["--perms", "1777", "--size", str(self.limits.tmp), "--tmpfs", str(place)]
        for name, folder in self.packages.stores.items():
            words += self._laid(name, folder, HOME / name)
        inner = [place for place in self.shown if place.is_relative_to(self.room.at)]
        words += self._shown(place for place in self.shown if place not in inner)
        words += self._ours()
        words += ["--bind" if self.room.writable else "--ro-bind", str(self.room.tree), str(self.room.at)]
        words += self._shown(inner)
        for name in sorted(self.room.beside):
            words += self._laid(name, self.room.beside[name], self.room.at / name)
        return [*words, "--remount-ro", "/", "--chdir", str(self.room.at)]

    def _shown(self, places: Iterable[Path]) -> Iterator[str]:
        for place in places:
            yield from ("--ro-bind-try", str(place), str(place))

    def _ours(self) -> Iterator[str]:
        yield from ("--ro-bind", str(Path(harness_executor.__file__).parent), str(PROGRAM))
        if self.room.outputs:
            yield from ("--ro-bind", str(self.room.outputs), str(OUTPUTS))
        if self.room.data:
            yield from ("--bind", str(self.room.data), str(DATA))

    def _laid(self, name: str, folder: Path, target: Path) -> Iterator[str]:
        if name in self.packages.laid_over:
            yield from ("--overlay-src", str(folder), "--tmp-overlay", str(target))
        elif name in self.packages.copies:
            yield from ("--bind", str(self.packages.copies[name]), str(target))
        else:
            yield from ("--ro-bind", str(folder), str(target))


def files(room: Room) -> dict[str, bytes]:
    """The files that are made for a box, by their place."""
    named = "".join(f"127.0.0.1 {name}\n" for name in room.names)
    texts = {**_FILES, _HOSTS: _FILES[_HOSTS] + named}
    return {place: text.encode() for place, text in texts.items()}


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
    narrow = (part for place in wanted for part in (parts_of(place) if _holds(place, room) else (place,)))
    shown = [place for place in dict.fromkeys(narrow) if _may_show(place, room)]
    return tuple(place for place in shown if not any(above in shown for above in place.parents))


def _holds(place: Path, room: Room) -> bool:
    """Is the project within what would be shown, and others like it perhaps?"""
    return room.at != place and room.at.is_relative_to(place)


def _may_show(place: Path, room: Room) -> bool:
    """Nothing of the project itself; but where a home is the project, programs that are not in the tree."""
    if not any(real.is_relative_to(room.at) for real in (place, place.resolve())):
        return True
    is_below = is_wide(room.at) and place.is_relative_to(room.at) and place.is_dir()
    return is_below and _is_free(room, place.relative_to(room.at))


def _is_free(room: Room, name: Path) -> bool:
    """Is nothing of the tree in this place, or on the way to it?"""
    above = [room.tree / parent for parent in name.parents]
    is_open = all(path.is_dir() and not path.is_symlink() for path in above if os.path.lexists(path))
    place = room.tree / name
    is_empty = place.is_dir() and not place.is_symlink() and not any(place.iterdir())
    return is_open and name != Path() and (is_empty or not os.path.lexists(place))


@lru_cache(maxsize=1)
def _machine() -> tuple[str, ...]:
    """What every box shows of the machine; it is the same for each of them."""
    return (*_proc(), *_system())


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
            for above in reversed(place.relative_to("/etc").parents[:-1]):
                yield from ("--perms", "0755", "--dir", f"/etc/{above}")
            yield from ("--ro-bind-try", str(place), str(place))
            yield from _hidden(place)
    yield from ("--symlink", "/proc/self/mounts", "/etc/mtab")
    if Path("/run/current-system").exists():
        yield from ("--ro-bind", os.path.realpath("/run/current-system"), "/run/current-system")


def _is_for_all(place: Path) -> bool:
    return place.exists() and bool(place.stat().st_mode & _FOR_ALL)
