"""Modules of Python that lie beside the program and are there for its tests alone, or hold some."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from harness_executor.kernel.testfiles import is_sectioned, is_test, steers_tests
from harness_executor.workspace.export import Desk
from harness_executor.workspace.trees import Entry

_LIBRARIES = frozenset(("pytest", "unittest", "hypothesis", "nose", "testtools", "doctest"))
_CALLED = re.compile("test|spec|check", re.IGNORECASE)
_LARGEST = 200_000
_MANIFESTS = ("*pyproject.toml", "*setup.py", "*setup.cfg")
_PLUGIN = "pytest11"
"""What a project says of itself that is a plugin of pytest: its program looks like a part of tests."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def companions_of(desk: Desk, tree: str, entries: Iterable[Entry]) -> frozenset[str]:
    """Those of some files that hold tests, or check or steer for them, and that no program imports."""
    modules = {entry.name: _parsed(_text(desk, entry)) for entry in entries if _may_be(entry)}
    found = {name: module for name, module in modules.items() if _has_tests(name, module) or _serves(module)}
    if not found or desk.git.find("grep", "-l", "-F", "-e", _PLUGIN, tree, "--", *_MANIFESTS):
        return frozenset()
    return frozenset(name for name, module in found.items() if _is_of_tests(desk, tree, name, module))


def _may_be(entry: Entry) -> bool:
    return entry.is_file and entry.size <= _LARGEST and entry.name.endswith(".py")


def _text(desk: Desk, entry: Entry) -> str:
    return desk.git.run("cat-file", "blob", entry.id).decode("utf-8", errors="replace")


def _parsed(text: str) -> ast.Module:
    """The module of a text; an empty one if it is none."""
    try:
        return ast.parse(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return ast.Module([], [])


def _has_tests(name: str, module: ast.Module) -> bool:
    """Is it called after tests, as some runner or its settings want it, and has some?"""
    tests = [function for function in _functions(module) if function.name.startswith("test")]
    named = _CALLED.search(PurePosixPath(name).stem) is not None
    return named and any(_uses_library(module) or _asserts(function) for function in tests)


def _serves(module: ast.Module) -> bool:
    """Does it use what tests are made with, steer their runner, or assert in every one of its functions?"""
    functions = _functions(module)
    if _uses_library(module) or any(function.name.startswith("pytest_") for function in functions):
        return True
    return bool(functions) and all(map(_asserts, functions))


def _functions(module: ast.Module) -> list[_Function]:
    return [node for node in ast.walk(module) if isinstance(node, _Function)]


def _uses_library(module: ast.Module) -> bool:
    return any(name.split(".")[0] in _LIBRARIES for name in _imports(module))


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def _asserts(function: _Function) -> bool:
    return any(isinstance(node, ast.Assert) for node in ast.walk(function))


def _is_of_tests(desk: Desk, tree: str, name: str, module: ast.Module) -> bool:
    path = PurePosixPath(name)
    word = path.parent.name if path.stem == "__init__" else path.stem
    if not word.isidentifier():
        return _has_tests(name, module)
    named = files_with(desk, tree, name, "-F", "-e", word)
    importing = files_with(desk, tree, name, "-E", "-e", f"(from|import) .*{word}", "--", "*.py")
    return (_has_tests(name, module) or any(map(_steers, named))) and all(map(_steers, importing))


def _steers(name: str) -> bool:
    return is_test(name) or steers_tests(name) or is_sectioned(name)


def files_with(desk: Desk, tree: str, own: str, *words: str) -> list[str]:
    """Other files of the tree in which a word stands."""
    option, dash, pattern, *where = words
    listed = desk.git.find("grep", "-l", "-z", "-w", option, dash, pattern, tree, *where)
    names = listed.decode(errors="surrogateescape").split("\0")
    return [name for line in names if (name := line.partition(":")[2]) and name != own]
