"""A file that is going to be written: its folder is held, and no link is followed to it."""

import ctypes
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache

from harness_executor.kernel.frozen import frozen
from harness_executor.tools.beneath import LOOK, Root
from harness_executor.tools.place import Place, ToolError

_WRITE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_EXCHANGE = 2
_DRAFTS = 100


@frozen
class Target:
    """Where a file goes."""

    inner: str
    """Its name in the tree."""
    folder: int
    """The folder it lies in."""
    old: int | None
    """The file that is there."""

    @property
    def name(self) -> str:
        """Its name in its folder."""
        return self.inner.rpartition("/")[2]

    # The old file is not written to: it may have got a second name, outside, since it was looked at.
    def replace(self, data: bytes) -> None:
        """Put a new file in the place of the old one, with its mode."""
        name, draft = self._draft()
        try:
            with os.fdopen(draft, "wb") as stream:
                stream.write(data)
                if self.old is not None:
                    os.fchmod(draft, os.fstat(self.old).st_mode & 0o777)
            self._put(name)
        except BaseException:
            with suppress(OSError):
                os.unlink(name, dir_fd=self.folder)
            raise

    # Exchanged where that is possible: some file systems write to the disk when one file replaces another.
    def _put(self, draft: str) -> None:
        if self.old is not None and _exchange(self.folder, draft, self.name):
            os.unlink(draft, dir_fd=self.folder)
        else:
            os.rename(draft, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)

    def _draft(self) -> tuple[str, int]:
        for number in range(_DRAFTS):
            name = f".harness-{os.getpid()}-{number}.draft"
            with suppress(FileExistsError):
                return name, os.open(name, _NEW, 0o666 if self.old is None else 0o600, dir_fd=self.folder)
        raise ToolError(f"{_DRAFTS} drafts lie beside {self.name}; remove them: .harness-*.draft")


@contextmanager
def aimed(place: Place, name: str, *, parents: bool = False) -> Iterator[Target]:
    """A target in the tree, with the folders above it made if they are wanted; raises ToolError."""
    inner = place.own(name)
    above, _, last = inner.rpartition("/")
    with ExitStack() as held:
        try:
            folder = _folder(place.tree, above or ".", make=parents)
            held.callback(os.close, folder)
            old = _existing(folder, last)
        except OSError as error:
            raise _refusal(error, name) from error
        if old is not None:
            held.callback(os.close, old)
            _check(old, name)
        yield Target(inner, folder, old)


def _folder(tree: Root, name: str, *, make: bool) -> int:
    try:
        return tree.open(name, LOOK | os.O_DIRECTORY)
    except FileNotFoundError:
        if not make:
            raise
    parts = name.split("/")
    for depth, part in enumerate(parts):
        above = tree.open("/".join(parts[:depth]) or ".", LOOK | os.O_DIRECTORY)
        try:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=above)
        finally:
            os.close(above)
    return tree.open(name, LOOK | os.O_DIRECTORY)


def _existing(folder: int, name: str) -> int | None:
    try:
        return os.open(name, _WRITE, dir_fd=folder)
    except FileNotFoundError:
        return None


def _check(file: int, name: str) -> None:
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode):
        raise ToolError(f"{name} is not a file")
    if found.st_nlink > 1:
        raise ToolError(f"{name} is a hard link, one of {found.st_nlink}; remove it, then write it anew")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _exchange(folder: int, one: str, other: str) -> bool:
    """Let two files of a folder change places; not every file system can."""
    words = (folder, os.fsencode(one), folder, os.fsencode(other), _EXCHANGE)
    return hasattr(_libc(), "renameat2") and _libc().renameat2(*words) == 0


def _refusal(error: OSError, name: str) -> Exception:
    if error.errno == errno.ELOOP:
        return ToolError(f"{name} is a link, or lies behind one; name the file it leads to")
    if error.errno == errno.ENOENT:
        return ToolError(f"there is no file {name}")
    if error.errno in (errno.EISDIR, errno.ENXIO):
        return ToolError(f"{name} is not a file")
    return error
