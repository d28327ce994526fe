"""Folders with installed packages, which a project ignores and cannot start without."""

import os
from collections.abc import Collection, Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

_PYTHON = (
    "pyproject.toml",
    "requirements*.txt",
    "setup.py",
    "setup.cfg",
    "Pipfile*",
    "poetry.lock",
    "uv.lock",
)
_NODE = (
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock*",
)
DEPENDENCIES = {".venv": _PYTHON, "venv": _PYTHON, "node_modules": _NODE}
"""Each folder, and the files that list what is installed in it."""
_KNOWN = {**DEPENDENCIES, "env": _PYTHON}
"""Those, and one that is also a name for other things: it counts only if it is a virtual environment."""

_DEPTH = 3
"""How deep in a project such folders are looked for."""
_PASSED_OVER = {"__pycache__", "site-packages", "dist", "build", "target"}


def beside(root: Path) -> dict[str, Path]:
    """The folders with packages that a project has, by their place in it."""
    return {folder.relative_to(root).as_posix(): folder for folder in _search(root, _DEPTH)}


def installs(changed: Collection[str], folders: Collection[str]) -> frozenset[str]:
    """The folders whose list of packages is among the changed files."""
    return frozenset(name for name in folders if any(_lists(path, name) for path in changed))


def _lists(path: str, folder: str) -> bool:
    file, place = PurePosixPath(path), PurePosixPath(folder)
    is_above = file.parent == place.parent or file.parent in place.parents or place.parent in file.parents
    return is_above and any(fnmatch(file.name, pattern) for pattern in _KNOWN[place.name])


def _search(folder: Path, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as found:
            inner = sorted(entry.name for entry in found if _is_folder(entry))
    except OSError:
        return
    for name in inner:
        if name in DEPENDENCIES or (name in _KNOWN and _is_environment(folder / name)):
            yield folder / name
        elif depth > 1 and not name.startswith(".") and name not in _PASSED_OVER:
            yield from _search(folder / name, depth - 1)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Is it a folder, or a link to a virtual environment, which some tools keep all in one place?"""
    is_link = _KNOWN.get(entry.name) is _PYTHON and _is_environment(Path(entry.path))
    return entry.is_dir(follow_symlinks=False) or is_link


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file()
