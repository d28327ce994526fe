"""Groups of processes whose memory and number the kernel bounds, where this machine allows them."""

import errno
import os
import select
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final

from harness_executor.clock import new_id, slug
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.limits import Limits

_PROC: Final = Path("/proc")
_NEEDED: Final = ("memory", "pids")
_TRIES, _PAUSE = 100, 0.01
"""How often, and after how many seconds, it is tried again to remove a group whose last process dies."""


@frozen
class _Files:
    """What a version of cgroups calls its files."""

    memory: str
    swap: str
    peak: str
    kills: str
    is_swap_by_itself: bool
    """Is swap counted by itself, or together with memory?"""


_V1: Final = _Files(
    memory="memory.limit_in_bytes",
    swap="memory.memsw.limit_in_bytes",
    peak="memory.max_usage_in_bytes",
    kills="memory.oom_control",
    is_swap_by_itself=False,
)
_V2: Final = _Files(
    memory="memory.max",
    swap="memory.swap.max",
    peak="memory.peak",
    kills="memory.events",
    is_swap_by_itself=True,
)


@frozen
class _Home:
    """Where groups can be made; both folders are the same one in version 2."""

    memory: Path
    pids: Path
    files: _Files
    left: tuple[Path, ...] = ()
    """The groups around us that a process leaves when it goes to one made here."""


@frozen
class Cgroup:
    """A group of processes with limits of its own."""

    memory: Path
    pids: Path
    files: _Files

    @classmethod
    def make(cls, name: str, limits: Limits, proc: Path = _PROC) -> "Cgroup | None":
        """A new group, or none where this machine has none for us; `cgroup_reason` says why."""
        try:
            return _make(name, limits, _find_home(proc))
        except OSError:
            return None

    def take(self, pid: int) -> None:
        """Take a process in; what it starts from now on is born in here."""
        for folder in self._folders():
            _write(folder / "cgroup.procs", pid)

    @property
    def peak(self) -> int | None:
        """The most bytes that were used at a time, where the kernel says it."""
        with suppress(OSError):
            return int((self.memory / self.files.peak).read_text())
        return None

    def killed_for_memory(self) -> int:
        """How many processes in here the kernel killed for want of memory; to be asked before `remove`."""
        return _count(self.memory / self.files.kills, "oom_kill")

    def refused_processes(self) -> int:
        """How often there were to be more processes than allowed; to be asked before `remove`."""
        return _count(self.pids / "pids.events", "max")

    def remove(self) -> bool:
        """Remove the group once its last process is dead; false if one does not die."""
        gone = [_remove(folder, _TRIES) for folder in self._folders()]
        return all(gone)

    def _folders(self) -> list[Path]:
        return list(dict.fromkeys((self.memory, self.pids)))


def cgroup_reason(proc: Path = _PROC) -> str:
    """Why no group can be made on this machine; empty if one was made to find out, and removed."""
    try:
        _make("probe", Limits(), _find_home(proc)).remove()
    except OSError as error:
        return str(error)
    return ""


def sweep(proc: Path = _PROC) -> int:
    """Remove the groups that dead runs left empty, and say how many."""
    try:
        home = _find_home(proc)
    except OSError:
        return 0
    left = [
        child for place in {home.memory, home.pids} for child in place.glob("harness-*") if _is_left(child)
    ]
    return sum(_remove(child, 1) for child in left)


def _make(name: str, limits: Limits, home: _Home) -> Cgroup:
    full = f"harness-{_owner(os.getpid())}-{slug(name)}-{new_id()[:8]}"
    group = Cgroup(home.memory / full, home.pids / full, home.files)
    try:
        for folder in group._folders():
            folder.mkdir()
        _bound(group, limits, home.left)
    except OSError:
        group.remove()
        raise
    return group


def _bound(group: Cgroup, limits: Limits, left: tuple[Path, ...]) -> None:
    """Write the limits; those of groups that are left go on to hold."""
    memory = min([limits.memory, *_numbers(folder / group.files.memory for folder in left)])
    _write(group.memory / group.files.memory, memory)
    swap = group.memory / group.files.swap
    if swap.exists():
        _write(swap, 0 if group.files.is_swap_by_itself else memory)
    _write(
        group.pids / "pids.max", min([limits.processes, *_numbers(folder / "pids.max" for folder in left)])
    )


def _find_home(proc: Path) -> _Home:
    """Where groups can be made; raises OSError with the reason if that is nowhere."""
    own = dict(_own_groups(proc))
    if all(name in own for name in _NEEDED):
        memory, pids = (_folder(proc, name, own[name])[0] for name in _NEEDED)
        return _Home(memory, pids, _V1)
    if "" not in own:
        raise FileNotFoundError(f"{proc}/self/cgroup names no group of memory and pids")
    folder, top = _folder(proc, "", own[""])
    around = [place for place in (folder, *folder.parents) if place.is_relative_to(top)]
    for index, place in enumerate(around):
        if _is_open(place):
            return _Home(place, place, _V2, tuple(around[:index]))
    raise PermissionError(f"no group from {folder} up is ours to write and hands down memory and pids")


def _own_groups(proc: Path) -> Iterator[tuple[str, str]]:
    """Each controller with the group we are in; version 2 has no name."""
    for line in (proc / "self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        yield from ((name, path) for name in names.split(","))


def _folder(proc: Path, controller: str, path: str) -> tuple[Path, Path]:
    """The folder of a group, and the uppermost that can be seen."""
    for line in (proc / "self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        root, point = before.split()[3:5]
        kind, _, options = after.split(" ", 2)
        is_it = kind == "cgroup" and controller in options.split(",") if controller else kind == "cgroup2"
        if is_it and PurePosixPath(path).is_relative_to(root):
            return Path(point, PurePosixPath(path).relative_to(root)), Path(point)
    raise FileNotFoundError(f"the group {path} of {controller or 'version 2'} is not mounted")


def _is_open(place: Path) -> bool:
    """Can a process of ours be moved to a new group in here, that has both limits?"""
    with suppress(OSError):
        handed = (place / "cgroup.subtree_control").read_text().split()
        ours = os.access(place, os.W_OK) and os.access(place / "cgroup.procs", os.W_OK)
        return ours and set(_NEEDED) <= set(handed)
    return False


def _owner(pid: int) -> str:
    """A process as nobody else is called, also not after its end: its namespace, number and start."""
    with suppress(OSError):
        started = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[19]
        return f"{_namespace()}-{pid}-{started}"
    return ""


def _namespace() -> int:
    return (_PROC / "self/ns/pid").stat().st_ino


def _is_left(folder: Path) -> bool:
    """Is the one that made this group gone? Of another namespace we cannot know."""
    _, space, pid, started, *_ = [*folder.name.split("-"), "", "", "", ""]
    return space == str(_namespace()) and pid.isdigit() and _owner(int(pid)) != f"{space}-{pid}-{started}"


def _remove(folder: Path, tries: int) -> bool:
    for _ in range(tries):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno != errno.EBUSY:
                return False
            select.select([], [], [], _PAUSE)
        else:
            return True
    return False


def _write(path: Path, value: int) -> None:
    path.write_text(str(value), encoding="ascii")


def _numbers(paths: Iterator[Path]) -> list[int]:
    """The limits in these files; one without a limit says `max`."""
    found: list[int] = []
    for path in paths:
        with suppress(OSError, ValueError):
            found.append(int(path.read_text()))
    return found


def _count(path: Path, name: str) -> int:
    with suppress(OSError):
        counts = dict(line.split() for line in path.read_text().splitlines())
        return int(counts.get(name, 0))
    return 0
