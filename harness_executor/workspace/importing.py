"""Where the code of an exported tree is found by its own programs, before any installed copy of it."""

import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from harness_executor.sandbox.base import Room

_BINARIES = {".venv": "bin", "venv": "bin", "node_modules": ".bin"}
_NOT_IMPORTED = {"setup", "conftest", "noxfile", "tasks", "fabfile", "tests", "test", "docs", "examples"}


def program_folders(room: Room, folder: str) -> tuple[str, ...]:
    """The folders of programs that a project has for itself, the nearest first, by their place in it."""
    places = [near / name / inner for near in _near(folder) for name, inner in _BINARIES.items()]
    return tuple(str(place) for place in places if _is_there(room, place))


def import_folders(tree: Path, folder: str) -> tuple[str, ...]:
    """The folders from which Python imports what the project is made of, by their place in it."""
    listed = [near / inner for near in _near(folder) for inner in (*_declared(tree / near), "src", ".")]
    return tuple(dict.fromkeys(str(place) for place in listed if any(modules(tree / place))))


def modules(folder: Path) -> Iterator[str]:
    """The names that can be imported from a folder."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        is_module = path.suffix == ".py" or (path / "__init__.py").is_file()
        if is_module and path.stem.isidentifier() and path.stem not in _NOT_IMPORTED:
            yield path.stem


def manifest(folder: Path) -> dict[str, Any]:
    """What pyproject.toml of a folder says; nothing when it has none that can be read."""
    try:
        return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _near(folder: str) -> tuple[PurePosixPath, ...]:
    place = PurePosixPath(folder)
    return (place, *place.parents)


def _is_there(room: Room, place: PurePosixPath) -> bool:
    beside = room.beside.get(str(place.parent))
    return (beside / place.name).is_dir() if beside else (room.tree / place).is_dir()


def _declared(folder: Path) -> Iterator[str]:
    """Folders that a project names itself, whatever it is built with."""
    tool = manifest(folder).get("tool")
    if not isinstance(tool, dict):
        return
    setuptools = tool.get("setuptools") or {}
    find = (setuptools.get("packages") or {}) if isinstance(setuptools.get("packages"), dict) else {}
    yield from _relative((setuptools.get("package-dir") or {}).get(""))
    for where in (find.get("find") or {}).get("where") or ():
        yield from _relative(where)
    for package in (tool.get("poetry") or {}).get("packages") or ():
        yield from _relative(package.get("from") if isinstance(package, dict) else None)
    yield from _relative(((tool.get("pdm") or {}).get("build") or {}).get("package-dir"))


def _relative(place: Any) -> Iterator[str]:
    if isinstance(place, str) and place and not place.startswith("/") and ".." not in place.split("/"):
        yield place
