"""Files of an exported tree that a step brings or asks about; no link leads out of the tree."""

import base64
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from harness_executor.kernel.values import NoSuchValue
from harness_executor.tools.beneath import FOLDER, LOOK, Root, hold

MOST = 8_000_000
"""Bytes of a file that are compared."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def plant(tree: Path, folder: str, files: Mapping[str, str]) -> None:
    """Write files into a tree; raises LookupError for one that leads out of it or cannot be written."""
    root = hold(tree)
    for name, text in files.items():
        place = inside(folder, name)
        try:
            _write(root, place, text)
        except OSError as error:
            raise NoSuchValue(f"{name} cannot be written: {error.strerror}") from error


def harvest(tree: Path, folder: str, names: Iterable[str]) -> dict[str, str]:
    """The texts of those files that are there; of a folder, the names in it, one in each line."""
    root = hold(tree)
    found = {name: _read(root, inside(folder, name), name) for name in names}
    return {name: text for name, text in found.items() if text is not None}


def as_text(data: bytes) -> str:
    """Bytes as text; what is not UTF-8 is spelled, as the body of an answer is."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(data).decode()


def inside(folder: str, name: str) -> PurePosixPath:
    """The place of a file in the tree; raises LookupError when it is none."""
    place = PurePosixPath(name)
    if place.is_absolute() or ".." in place.parts or not place.parts or "\0" in name:
        raise NoSuchValue(f"{name!r} is no file of the project: name it relative to where the command runs")
    return PurePosixPath(folder) / place


def _write(root: Root, place: PurePosixPath, text: str) -> None:
    for above in reversed(place.parents[:-1]):
        held = root.open(str(above.parent), LOOK | os.O_DIRECTORY)
        try:
            with suppress(FileExistsError):
                os.mkdir(above.name, 0o755, dir_fd=held)
        finally:
            os.close(held)
    held = root.open(str(place.parent), LOOK | os.O_DIRECTORY)
    try:
        mode = _clear(held, place.name)
        with open(os.open(place.name, _NEW, mode, dir_fd=held), "wb") as stream:  # noqa: PTH123 - opened below a folder
            stream.write(text.encode(errors="surrogateescape"))
    finally:
        os.close(held)


def _clear(folder: int, name: str) -> int:
    """Make room for a file; gives the mode that the one before it had."""
    try:
        before = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return 0o644
    os.unlink(name, dir_fd=folder)
    return stat.S_IMODE(before.st_mode) & 0o777 | 0o600 if stat.S_ISREG(before.st_mode) else 0o644


def _read(root: Root, place: PurePosixPath, name: str) -> str | None:
    try:
        mode = root.stat(str(place)).st_mode
        if stat.S_ISDIR(mode):
            return "".join(f"{inner}\n" for inner in sorted(_names(root, place)))
        if not stat.S_ISREG(mode):
            return "(neither a file nor a folder)"
        with open(root.read(str(place)), "rb") as stream:  # noqa: PTH123 - opened below a folder
            data = stream.read(MOST + 1)
    except OSError:
        return None
    if len(data) > MOST:
        raise NoSuchValue(f"{name} has more than {MOST} bytes")
    return as_text(data)


def _names(root: Root, place: PurePosixPath) -> list[str]:
    held = root.open(str(place), FOLDER, links=True)
    try:
        return os.listdir(held)  # noqa: PTH208 - a folder that is held has no path
    finally:
        os.close(held)
