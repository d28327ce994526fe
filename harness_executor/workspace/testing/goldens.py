"""Data that lies beside the program and that its tests alone compare with or read."""

import re
from collections.abc import Iterable
from functools import partial
from pathlib import PurePosixPath

from harness_executor.kernel.testfiles import is_sectioned, is_test, steers_tests
from harness_executor.workspace.export import Desk
from harness_executor.workspace.testing.companions import files_with
from harness_executor.workspace.trees import Entry

_FOLDERS = frozenset(("golden", "goldens", "fixtures", "snapshots", "cassettes", "expected"))
"""Folders of what tests compare with, wherever they lie."""
_DATA = (
    *(".txt", ".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".csv", ".tsv", ".xml", ".out", ".snap"),
    *(".golden", ".expected", ".approved"),
)
_CODE = (
    *(".py", ".pyi", ".js", ".jsx", ".cjs", ".mjs", ".ts", ".tsx", ".cts", ".mts", ".vue", ".svelte"),
    *(".go", ".rs", ".java", ".kt", ".rb", ".php", ".sh", ".c", ".cc", ".cpp", ".h", ".cs", ".swift"),
)
_TEXTS = (".md", ".rst", ".adoc", ".gitignore", ".gitattributes", ".dockerignore", ".prettierignore")
_MOST = 300
"""Files that are looked for in others."""


def goldens_of(desk: Desk, tree: str, entries: Iterable[Entry]) -> frozenset[str]:
    """Those of some files that lie in a folder of such data or that tests name, and that no program names."""
    names = [entry.name for entry in entries if entry.is_file and _may_be(entry.name)]
    names.sort(key=lambda name: not _folder(name))
    return frozenset(name for name in names[:_MOST] if _is_of_tests(desk, tree, name))


def _may_be(name: str) -> bool:
    place = PurePosixPath(name)
    if is_sectioned(name) or place.suffix in (*_CODE, *_TEXTS):
        return False
    return bool(_folder(name)) or place.suffix in _DATA


def _folder(name: str) -> str:
    """The folder of what tests compare with in which a file lies, if it does."""
    return next((part for part in name.split("/")[:-1] if part.lower() in _FOLDERS), "")


def _is_of_tests(desk: Desk, tree: str, name: str) -> bool:
    place, folder = PurePosixPath(name), _folder(name)
    look = partial(files_with, desk, tree, name)
    naming = look("-F", "-e", place.name)
    if not folder and not any(map(is_test, naming)):
        return False
    if any(map(_is_of_program, naming)):
        return False
    words = [folder] if folder else [word for word in (place.stem, place.parent.name) if word]
    shown = "|".join(re.sub(r"\W", ".", word) for word in words)
    leading = look("-E", "-e", f".*[\"'`/]({shown})[\"'`/].*")  # a whole line is a word
    return not any(_is_of_program(other) and not is_sectioned(other) for other in leading)


def _is_of_program(name: str) -> bool:
    """May the program be told something there? Not by tests, their data, documents and settings of tools."""
    is_of_tools = name.startswith(".") and not name.startswith(".env")
    is_told = is_of_tools or name.endswith(_TEXTS) or _folder(name) != ""
    return not is_told and not is_test(name) and not steers_tests(name)
