"""Trees that commands have worked on: copied as they are, whatever was left in them."""

import os
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from harness_executor.workspace.export import remove

Seen = dict[str, tuple[int, ...]]
"""What each file, link and folder of a tree looked like, by its place: first its mode, then its size."""
_MADE_AGAIN = "__pycache__"
"""Made again by whoever needs it, and wrong beside files of another time."""


def copy_tree(source: Path, target: Path) -> None:
    """A copy in which links stay links, and what is no file is left out."""
    remove(target)
    # what cannot be read is left out, as a server could not read it either
    with suppress(shutil.Error):
        shutil.copytree(source, target, symlinks=True, ignore=_special)


def look(tree: Path, without: frozenset[str] = frozenset()) -> Seen:
    """Every file, link and folder of a tree, but for some folders; raises OSError."""
    found: Seen = {}
    for folder, names, files in os.walk(tree, onerror=_refuse):
        inner = os.path.relpath(folder, tree)
        place = "" if inner == "." else f"{inner}/"
        names[:] = [name for name in names if f"{place}{name}" not in without and name != _MADE_AGAIN]
        for name in (*names, *files):
            state = os.lstat(f"{folder}/{name}")
            if stat.S_ISDIR(state.st_mode):
                found[f"{place}{name}"] = (state.st_mode, 0)
            elif stat.S_ISREG(state.st_mode) or stat.S_ISLNK(state.st_mode):
                times = (state.st_mtime_ns, state.st_ctime_ns)
                found[f"{place}{name}"] = (state.st_mode, state.st_size, *times, state.st_ino)
    return found


def came(before: Seen, after: Seen) -> Seen:
    """What is new, or not as it was."""
    return {name: state for name, state in sorted(after.items()) if before.get(name) != state}


def take(tree: Path, names: Mapping[str, tuple[int, ...]], target: Path) -> None:
    """Copy some of a tree into a folder that nobody else has; raises OSError."""
    target.mkdir(parents=True)
    for name, state in names.items():
        _put(tree / name, target / name, state)


def lay(taken: Path, names: Mapping[str, tuple[int, ...]], tree: Path, when: float) -> None:
    """Put what was taken into a fresh tree, never through a link that stands there; raises OSError.

    Everything gets one time: what was made is not older than what it was made of.
    """
    for name, state in sorted(names.items()):
        _clear_way(tree, Path(name), is_folder=stat.S_ISDIR(state[0]))
        _put(taken / name, tree / name, state)
        if not stat.S_ISDIR(state[0]):
            os.utime(tree / name, (when, when), follow_symlinks=False)
    for name, state in sorted(names.items(), reverse=True):
        if stat.S_ISDIR(state[0]):
            (tree / name).chmod(stat.S_IMODE(state[0]))


def clear(names: tuple[str, ...], tree: Path) -> None:
    """Remove what went, never through a link."""
    for name in names:
        if all(not (tree / above).is_symlink() for above in Path(name).parents):
            remove(tree / name)


def _clear_way(tree: Path, name: Path, *, is_folder: bool) -> None:
    for above in reversed(name.parents[:-1]):
        place = tree / above
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            place.unlink()
        place.mkdir(exist_ok=True)
    place = tree / name
    if place.is_symlink() or (place.exists() and not (is_folder and place.is_dir())):
        remove(place)


def _put(source: Path, target: Path, state: tuple[int, ...]) -> None:
    """One file, link or folder, if it is what it was."""
    target.parent.mkdir(parents=True, exist_ok=True)
    found = source.lstat()
    if stat.S_IFMT(found.st_mode) != stat.S_IFMT(state[0]):
        raise OSError(f"{source.name} is not what it was")
    if stat.S_ISDIR(state[0]):
        target.mkdir(exist_ok=True)
        return
    if found.st_size != state[1]:
        raise OSError(f"{source.name} has lost something")
    shutil.copy2(source, target, follow_symlinks=False)


def _refuse(error: OSError) -> None:
    raise error


def _special(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if not _is_plain(f"{folder}/{name}")}


def _is_plain(path: str) -> bool:
    mode = os.lstat(path).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)
