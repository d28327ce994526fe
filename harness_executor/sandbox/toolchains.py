"""Which folders of this machine hold the programs that commands are used to."""

import os
import pwd
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from harness_executor.config import safe_environment

SYSTEM = tuple(
    map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"))
)
"""What every user of the machine has; shown as it is."""

_OF_PREFIX = ("lib", "libexec", "versions", "pyvenv.cfg")
"""What stands beside a folder of programs that belongs to one installation."""
_WIDE = (".local", ".config", ".cache", ".local/share", "Library")
"""Folders of a home that hold far more than programs."""
_MOST_LINKS = 500


def interpreter() -> Path:
    """The interpreter that runs this program, outside of any virtual environment."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def own_folders() -> tuple[Path, ...]:
    """What this program is installed in: its interpreter, and the virtual environment around it."""
    return tuple(dict.fromkeys(_needed([Path(sys.base_prefix).resolve(), Path(sys.prefix)])))


def tool_folders(search_path: str, project: Path) -> tuple[Path, ...]:
    """What has to be shown so that the programs of a search path can be found and started.

    A project that has a folder there cannot have anything shown: its links could lead anywhere.
    """
    places = [Path(place) for place in search_path.split(os.pathsep) if Path(place).is_absolute()]
    outside = [place for place in dict.fromkeys(places) if place.is_dir() and not lies_in(place, project)]
    own = [place for place in outside if not _is_system(place)]
    return tuple(dict.fromkeys(_needed(root for place in own for root in _roots(place))))


def environment_folders(environments: Iterable[Path]) -> tuple[Path, ...]:
    """The installations of Python that virtual environments were made from."""
    found = (prefix for folder in environments if (prefix := _base_of(folder)))
    return tuple(dict.fromkeys(_needed(found)))


def lies_in(place: Path, folder: Path) -> bool:
    """Is a place in a folder, as it is written or as it really is?"""
    return place.is_relative_to(folder) or place.resolve().is_relative_to(folder.resolve())


def visible_path(shown: Iterable[Path]) -> str:
    """The user's search path, without what a box does not show."""
    places = (*SYSTEM, *shown)
    listed = safe_environment()["PATH"].split(os.pathsep)
    kept = [place for place in listed if any(Path(place).is_relative_to(folder) for folder in places)]
    return os.pathsep.join(kept) or os.defpath


def _needed(folders: Iterable[Path]) -> Iterator[Path]:
    """Those that are not part of the system already, nor wider than an installation."""
    for folder in folders:
        if not _is_system(folder) and not _is_wide(folder):
            yield folder


def _is_system(folder: Path) -> bool:
    return any(folder.is_relative_to(place) for place in SYSTEM)


def _roots(place: Path) -> Iterator[Path]:
    """The installation a folder of programs belongs to; else the folder, and those its links lead to."""
    parent = place.parent
    if not _is_wide(parent) and any((parent / name).exists() for name in _OF_PREFIX):
        yield parent
        return
    yield place
    with os.scandir(place) as entries:
        links = [
            Path(entry.path)
            for entry, _ in zip(entries, range(_MOST_LINKS), strict=False)
            if entry.is_symlink()
        ]
    for target in {link.resolve().parent for link in links}:
        if target.is_dir() and target != place:
            inner = target.parent
            yield inner if not _is_wide(inner) and target.name in ("bin", "Scripts") else target


def _is_wide(folder: Path) -> bool:
    """Does it hold more than one installation, such as a home or the root?"""
    homes = _homes()
    wide = {*homes, *(home / name for home in homes for name in _WIDE)}
    return folder in wide or any(home.is_relative_to(folder) for home in homes) or len(folder.parts) < 3


def _homes() -> frozenset[Path]:
    homes = {Path(safe_environment()["HOME"])}
    with suppress(KeyError):
        homes.add(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return frozenset(homes)


def _base_of(environment: Path) -> Path | None:
    """The installation that a virtual environment names, if there really is one."""
    try:
        lines = (environment / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    named = {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}
    programs = Path(named.get("home", ""))
    prefix = programs.resolve().parent
    is_python = programs.is_absolute() and any(prefix.glob("lib/python3*/os.py"))
    return prefix if is_python else None
