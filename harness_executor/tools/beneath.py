"""Opens what lies below a folder; what leads out of it is refused in the moment of opening."""

import ctypes
import errno
import os
import stat
import weakref
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

LOOK = os.O_PATH | os.O_CLOEXEC
"""Hold something without opening it."""
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Open for reading, and wait for nobody: a pipe may have no other end."""
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
"""Open a folder to see what is in it."""

_OPENAT2 = 437
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_TRIES = 64
"""How often the kernel is asked again when somebody renames a folder just then."""
_LINKS = 40
"""Links on one way, as the kernel counts them."""


class Opener(Protocol):
    """A way to open a path below a folder that is held; raises OSError."""

    def __call__(self, folder: int, name: str, flags: int, *, links: bool) -> int:
        """The descriptor; `links` allows symbolic links that stay below the folder."""
        ...


class Root:
    """A folder that is held open, so that it stays the same one, and everything below it."""

    def __init__(self, folder: int, opener: Opener | None = None) -> None:
        self.folder = folder
        self._opener = opener or opener_of_this_machine()
        weakref.finalize(self, os.close, folder)

    def open(self, name: str, flags: int, *, links: bool = False) -> int:
        """The descriptor of a path; raises OSError."""
        return self._opener(self.folder, name, flags, links=links)

    # Whoever reads may follow links: repositories have links to their own files, and one that is absolute
    # or climbs out is refused by the kernel with EXDEV, whenever it appeared.
    def read(self, name: str) -> int:
        """A descriptor to read from, of whatever is there; raises OSError."""
        return self.open(name, READ, links=True)

    def below(self, name: str) -> "Root":
        """A folder of this one as a root; raises OSError."""
        return Root(self.open(name, LOOK | os.O_DIRECTORY, links=True), self._opener)

    def stat(self, name: str) -> os.stat_result:
        """What stands behind a path; raises OSError."""
        held = self.open(name, LOOK, links=True)
        try:
            return os.fstat(held)
        finally:
            os.close(held)

    def has_file(self, name: str) -> bool:
        """Is a plain file there?"""
        return stat.S_ISREG(self._mode(name))

    def has_folder(self, name: str) -> bool:
        """Is a folder there?"""
        return stat.S_ISDIR(self._mode(name))

    def has(self, name: str) -> bool:
        """Is anything there?"""
        return self._mode(name) != 0

    def _mode(self, name: str) -> int:
        try:
            return self.stat(name).st_mode
        except OSError:
            return 0


def hold(path: Path, *, follow: bool = True) -> Root:
    """Hold a folder of this machine; raises OSError."""
    return Root(os.open(path, LOOK | os.O_DIRECTORY | (0 if follow else os.O_NOFOLLOW)))


@cache
def opener_of_this_machine() -> Opener:
    """The kernel's way; where it is missing or a container forbids it, a way as safe in steps."""
    folder = os.open("/", LOOK)
    try:
        os.close(by_kernel(folder, ".", LOOK, links=False))
    except OSError:
        return by_walking
    finally:
        os.close(folder)
    return by_kernel


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    size, how = ctypes.c_size_t, ctypes.POINTER(_How)
    libc.syscall.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_char_p, how, size)
    return libc


def by_kernel(folder: int, name: str, flags: int, *, links: bool) -> int:
    """Open with openat2: the way is judged by whoever walks it."""
    how = _How(flags, 0, _BENEATH | _NO_MAGICLINKS | (0 if links else _NO_SYMLINKS))
    code = errno.EAGAIN
    for _ in range(_TRIES):
        opened: int = _libc().syscall(_OPENAT2, folder, os.fsencode(name), how, ctypes.sizeof(how))
        if opened >= 0:
            return opened
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code), name)


def by_walking(folder: int, name: str, flags: int, *, links: bool) -> int:
    """Open one step after the other, each from the folder that the step before it held."""
    walk = _Walk([os.dup(folder)], _LINKS if links else 0)
    try:
        return walk.to(name, flags)
    finally:
        for held in walk.held:
            os.close(held)


@dataclass
class _Walk:
    held: list[int]
    """The folders from the root to here; the way up is the way back."""
    links: int
    """Links that may still be followed."""

    def to(self, name: str, flags: int) -> int:
        left = _steps(name)
        while left:
            part = left.pop()
            if part == "..":
                self._back()
                continue
            try:
                step = self._step(part, LOOK | os.O_DIRECTORY if left else flags)
            except OSError as error:
                steps = self._link(part) if error.errno in (errno.ELOOP, errno.ENOTDIR) else None
                if steps is None:
                    raise
                left += steps
                continue
            if not left:
                return step
            self.held.append(step)
        return os.open(".", flags, dir_fd=self.held[-1])

    def _step(self, part: str, flags: int) -> int:
        step = os.open(part, flags | os.O_NOFOLLOW, dir_fd=self.held[-1])
        if stat.S_ISLNK(os.fstat(step).st_mode):
            os.close(step)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), part)
        return step

    def _back(self) -> None:
        if len(self.held) == 1:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), "..")
        os.close(self.held.pop())

    def _link(self, part: str) -> list[str] | None:
        """The steps of a link, if it is one."""
        try:
            target = os.readlink(part, dir_fd=self.held[-1])
        except OSError:
            return None
        if not self.links:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), part)
        self.links -= 1
        return _steps(target)


def _steps(name: str) -> list[str]:
    """The parts of a path, the last one first."""
    if name.startswith("/"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)
    return [part for part in reversed(name.split("/")) if part not in ("", ".")]
