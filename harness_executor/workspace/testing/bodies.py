"""Tests that only got another name: the same body, found in the sources of Python."""

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from functools import lru_cache
from pathlib import Path

from harness_executor.workspace.dependencies import DEPENDENCIES
from harness_executor.workspace.testing.reading import read_text

_LARGEST = 1_000_000
_DEPTH = 3
"""How deep in a tree the folder is looked for in which tests ran."""


def find_renamed(gone: Iterable[str], new: Iterable[str], base: Path, change: Path) -> Mapping[str, str]:
    """For each test that is gone, a new one with the same body, each new one once."""
    bodies: dict[str, list[str]] = {}
    for name in new:
        for body in _body(change, name):
            bodies.setdefault(body, []).append(name)
    found: dict[str, str] = {}
    for name in gone:
        for body in _body(base, name):
            if bodies.get(body):
                found[name] = bodies[body].pop(0)
    return found


def _body(tree: Path, name: str) -> Iterator[str]:
    """What a test does, whatever it is called; with its parameters, which stand in its id."""
    file, *parts = name.split("::")
    if not parts or not file.endswith(".py") or ".." in Path(file).parts:
        return
    plain, bracket, parameters = parts[-1].partition("[")
    found = _functions(_place(tree, file)).get("::".join((*parts[:-1], plain)))
    if found is not None:
        yield f"{found}{bracket}{parameters}"


@lru_cache(maxsize=512)
def _place(tree: Path, file: str) -> Path:
    """Where a file is: tests that run in a folder of the project are named from there."""
    found: list[Path] = []
    with suppress(OSError, ValueError):
        if not (tree / file).is_file():
            found = [folder / file for folder in _folders(tree, _DEPTH) if (folder / file).is_file()]
    return found[0] if len(found) == 1 else tree / file


def _folders(tree: Path, depth: int) -> Iterator[Path]:
    with os.scandir(tree) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    for name in names:
        if not name.startswith(".") and name not in DEPENDENCIES:
            yield tree / name
            yield from _folders(tree / name, depth - 1) if depth > 1 else ()


@lru_cache(maxsize=512)
def _functions(path: Path) -> Mapping[str, str]:
    try:
        tree = ast.parse(read_text(path)[:_LARGEST])
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return {}
    return dict(_within(tree, ()))


def _within(node: ast.AST, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "::".join((*above, child.name)), _dump(child, is_method=bool(above))
        elif isinstance(child, ast.ClassDef):
            yield from _within(child, (*above, child.name))


def _dump(function: ast.FunctionDef | ast.AsyncFunctionDef, *, is_method: bool) -> str:
    """What a function is but for its name, and for the object of a method, of which its body tells."""
    arguments = copy(function.args)
    if is_method and arguments.args and arguments.args[0].arg == "self":
        arguments.args = arguments.args[1:]
    parts = (*function.decorator_list, arguments, *function.body)
    return "\n".join(ast.dump(part) for part in parts)
