"""Which folders of this machine hold the programs that commands are used to."""

import os
import pwd
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from harness_executor.config import safe_environment
from harness_executor.kernel.secrecy import is_secret

SYSTEM = tuple(
    map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"))
)
"""What every user of the machine has; shown as it is."""

_MARKS = ("lib", "libexec", "versions", "pyvenv.cfg")
"""What stands beside a folder of programs that belongs to one installation."""
_PARTS = ("bin", "sbin", "shims", *_MARKS, "lib32", "lib64", "include", "share")
"""What programs need of an installation that holds more than itself."""
_WIDE = (".local", ".config", ".cache", ".local/share", "Library")
"""Folders of a home that hold far more than programs."""
_STORES = (
    *(".local/lib/python3*/site-packages", ".rustup", ".cargo/registry", "go/pkg/mod", ".m2/repository"),
    *(".gradle/caches", ".nuget/packages"),
)
"""Where programs look for packages below any home; none of it is about the user."""
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
    home, anywhere = safe_environment()["HOME"], is_wide(project)
    listed = [os.path.normpath(place) for place in search_path.split(os.pathsep) if place.startswith("/")]
    places = [place for place in map(Path, dict.fromkeys(listed)) if place.is_dir()]
    outside = [place for place in places if anywhere or not lies_in(place, project)]
    return tuple(dict.fromkeys(root for place in outside for root in _belongings(place, _stamp(place), home)))


def environment_folders(environments: Iterable[Path]) -> tuple[Path, ...]:
    """The installations of Python that virtual environments were made from."""
    found = (root for folder in environments for root in _bases_of(folder))
    return tuple(dict.fromkeys(_needed(found)))


def lies_in(place: Path, folder: Path) -> bool:
    """Is a place in a folder, as it is written or as it really is?"""
    return place.is_relative_to(folder) or place.resolve().is_relative_to(folder.resolve())


def stores() -> dict[str, Path]:
    """Packages of the user, by their place in any home."""
    home = Path(safe_environment()["HOME"])
    found = (place for pattern in _STORES for place in home.glob(pattern) if place.is_dir())
    return {str(place.relative_to(home)): place for place in _needed(found)}


def parts_of(folder: Path) -> tuple[Path, ...]:
    """What programs need of an installation, without the rest of its folder."""
    return tuple(folder / name for name in _PARTS if (folder / name).exists())


def visible_path(shown: Iterable[Path]) -> str:
    """The user's search path, without what a box does not show."""
    places = {*SYSTEM, *shown}
    listed = safe_environment()["PATH"].split(os.pathsep)
    kept = [place for place in listed if not places.isdisjoint(_on_the_way(place))]
    return os.pathsep.join(kept) or os.defpath


def is_wide(folder: Path) -> bool:
    """Does it hold more than one installation, such as a home or the root?"""
    wide = _wide_folders(safe_environment()["HOME"])
    return any(_is_wide(place, wide) for place in {folder, folder.resolve()})


def _on_the_way(name: str) -> tuple[Path, ...]:
    place = Path(os.path.normpath(name))
    return (place, *place.parents)


@lru_cache(maxsize=64)
def _belongings(place: Path, _stamp: tuple[int, ...], _home: str) -> tuple[Path, ...]:
    """What the programs of a folder need; boxes are opened often, so it is looked up when it changed."""
    return tuple(_needed(_roots(place)))


def _stamp(place: Path) -> tuple[int, ...]:
    return tuple(folder.stat().st_mtime_ns for folder in (place, place.parent))


def _needed(places: Iterable[Path]) -> Iterator[Path]:
    """Those that are not part of the system already, nor wider than an installation, nor secret."""
    for place in places:
        hidden = any(_looks_secret(f"{real}{end}") for real in {place, place.resolve()} for end in ("", "/x"))
        if not _is_system(place) and not is_wide(place) and not hidden:
            yield place


@lru_cache(maxsize=10_000)
def _looks_secret(path: str) -> bool:
    return is_secret(path)


def _is_system(folder: Path) -> bool:
    return any(folder.is_relative_to(place) for place in SYSTEM)


def _roots(place: Path) -> Iterator[Path]:
    """The installation a folder of programs belongs to; else the folder, and what its links lead to."""
    if _is_system(place):
        return
    if _is_installation(place.parent):
        yield place
        yield from _whole(place.parent)
        return
    yield place
    with os.scandir(place) as entries:
        few = [entry for entry, _ in zip(entries, range(_MOST_LINKS), strict=False)]
    for link in (Path(entry.path) for entry in few if entry.is_symlink()):
        for target in (Path(os.path.normpath(place / link.readlink())), link.resolve()):
            yield from _behind(target, place)


def _behind(program: Path, place: Path) -> Iterator[Path]:
    """What a program needs that a link leads to: its installation, its package, or nothing but itself."""
    modules = [at for at, name in enumerate(program.parts) if name == "node_modules"]
    if program.parent == place or not program.is_file():
        return
    if program.parent.name == "bin" and _is_installation(program.parent.parent):
        yield from _whole(program.parent.parent)
    elif modules:
        words = 3 if program.parts[modules[0] + 1].startswith("@") else 2
        yield Path(*program.parts[: modules[0] + words])
    else:
        yield program


def _is_installation(folder: Path) -> bool:
    return not is_wide(folder) and any((folder / name).exists() for name in _MARKS)


def _whole(folder: Path) -> Iterator[Path]:
    """An installation; of one that is somebody's work, or has secrets beside it, only what programs need."""
    is_managed = (folder / "versions").is_dir()
    is_work = (folder / ".git").exists() and not is_managed
    if is_work or any(map(_looks_secret, os.listdir(folder))):  # noqa: PTH208 - only the names are wanted
        yield from parts_of(folder)
    else:
        yield folder


def _is_wide(folder: Path, wide: frozenset[Path]) -> bool:
    is_home = len(folder.parts) == 3 and folder.parts[1] in ("home", "Users")
    return is_home or folder in wide or len(folder.parts) < 3


@lru_cache(maxsize=8)
def _wide_folders(home: str) -> frozenset[Path]:
    """The homes there are, what is above them, and the large folders in them."""
    named = {Path(home)}
    with suppress(KeyError):
        named.add(Path(pwd.getpwuid(os.getuid()).pw_dir))
    homes = {*named, *(home.resolve() for home in named)}
    above = {parent for home in homes for parent in home.parents}
    return frozenset({*homes, *above, *(home / name for home in homes for name in _WIDE)})


def _bases_of(environment: Path) -> Iterator[Path]:
    """The installation that a virtual environment names, if there really is one, by each of its names."""
    try:
        lines = (environment / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    named = {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}
    programs = Path(os.path.normpath(named.get("home", "")))
    for prefix in (programs.parent, programs.resolve().parent):
        if programs.is_absolute() and any(prefix.glob("lib/python3*/os.py")) and not is_wide(prefix):
            yield from _whole(prefix)
