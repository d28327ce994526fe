"""Installed copies of what a tree is made of, which Python would import on base and change alike."""

import ast
import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from harness_executor.config import safe_environment
from harness_executor.kernel.assurance import Assurance
from harness_executor.sandbox.base import Room
from harness_executor.workspace.importing import import_folders, modules

_PACKAGES = "lib/python3*/*-packages"
_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")
_DEPTH = ("", "*/", "*/*/")
"""How deep in a tree projects are looked for."""
_FINDER = "__editable___*_finder.py"


def with_imports(room: Room, base: Collection[str] = ()) -> Room:
    """A room that says from where Python imports; what only the change has is taken for no copy."""
    sites = [site for folder in _environments(room) for site in sorted(folder.glob(_PACKAGES))]
    copies = {name for site in sites for name in _names(site)}
    if base:
        copies &= {_module(PurePosixPath(name)) for name in base}
    found = [place for place in _places(room.tree) if not copies.isdisjoint(modules(room.tree / place))]
    links = [place for site in sites for place in _links(site, room.at) if (room.tree / place).is_dir()]
    return replace(room, imports=tuple(found), linked=tuple(dict.fromkeys(links)))


def remarks(room: Room, assurance: Assurance) -> tuple[str, ...]:
    """What a reader should know of where Python imports from."""
    linked = room.linked if assurance is Assurance.UNSANDBOXED else ()
    pairs = (
        (room.imports, "an installed copy"),
        (linked, "the working tree, where an editable install leads"),
    )
    return tuple(f"{_told(places)}, not from {what}" for places, what in pairs if places)


def _told(places: tuple[str, ...]) -> str:
    named = ", ".join("the root" if place == "." else f"{place}/" for place in places)
    return f"by PYTHONPATH, Python imports from {named} of each side"


def _environments(room: Room) -> tuple[Path, ...]:
    """The environments of the project, and those that the user's search path leads to."""
    listed = map(Path, safe_environment()["PATH"].split(os.pathsep))
    folders = (*room.beside.values(), *(place.parent for place in listed if place.is_absolute()))
    return tuple(dict.fromkeys(folders))


def _places(tree: Path) -> tuple[str, ...]:
    """The folders from which the projects in a tree are imported."""
    found = (path for depth in _DEPTH for name in _MANIFESTS for path in tree.glob(f"{depth}{name}"))
    projects = dict.fromkeys((".", *(path.parent.relative_to(tree).as_posix() for path in found)))
    return tuple(dict.fromkeys(place for folder in projects for place in import_folders(tree, folder)))


def _names(site: Path) -> Iterator[str]:
    """What can be imported from a folder with installed packages."""
    with suppress(OSError):
        yield from (path.name.split(".")[0] for path in site.iterdir() if path.suffix != ".pth")


def _module(file: PurePosixPath) -> str:
    return file.parent.name if file.name == "__init__.py" else file.stem


def _links(site: Path, project: Path) -> Iterator[str]:
    """The folders of a project that an editable install leads to, by their place in it."""
    files = (*sorted(site.glob("*.pth")), *sorted(site.glob(_FINDER)))
    folders = (Path(folder) for file in files for folder in _named(file))
    return (folder.relative_to(project).as_posix() for folder in folders if folder.is_relative_to(project))


def _named(file: Path) -> list[str]:
    """The folders that Python is told to import from as well, or whose packages a finder knows."""
    try:
        text = file.read_text(encoding="utf-8")
        return text.splitlines() if file.suffix == ".pth" else list(_mapped(text))
    except (OSError, ValueError, SyntaxError):
        return []


def _mapped(text: str) -> Iterator[str]:
    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.AnnAssign)]
    for node in nodes:
        if node.value and ast.unparse(node.target) == "MAPPING":
            known: dict[str, str] = ast.literal_eval(node.value)
            yield from (str(Path(place).parent) for name, place in known.items() if Path(place).stem == name)
