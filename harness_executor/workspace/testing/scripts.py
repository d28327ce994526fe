"""Scripts of a project that its test command runs."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from harness_executor.kernel.testfiles import is_sectioned
from harness_executor.workspace.export import Desk
from harness_executor.workspace.testing.loading import loaded_by
from harness_executor.workspace.trees import Entry

_SHELLS = (".sh", ".bash", ".zsh", ".mk")
_PROGRAMS = (*_SHELLS, ".py", ".js", ".cjs", ".mjs", ".ts", ".rb", ".pl", ".php")
_ABOUT_TESTS = re.compile(
    r"(?<![a-z])(?:run)?(?:tests?|testing|checks?|specs?|lint(?:er|ing)?)(?![a-z])", re.IGNORECASE
)
_FOLDERS = frozenset(("ci", ".ci", "script", "scripts", "tools", "hack", "dev"))
"""Folders of what is run while a program is made, and not of the program."""
_LED_TO = {
    "Makefile": r"\bg?make\b",
    "GNUmakefile": r"\bg?make\b",
    "makefile": r"\bg?make\b",
    "justfile": r"\bjust\b",
    "package.json": r"\b(?:npm|npx|yarn|pnpm|bun)\b",
    ".npmrc": r"\b(?:npm|npx|yarn|pnpm)\b",
}
"""Files that a command reads by the name of its program alone."""
_WORD = re.compile(r"[\w@%+.-]+(?:/[\w@%+.-]+)*")
_LARGEST = 200_000
_MOST = 50
"""Scripts that are followed."""


def scripts_of(desk: Desk, entries: Iterable[Entry], command: str) -> frozenset[str]:
    """The files that a command runs or loads, itself or by a Makefile, package.json or script.

    What the command does not name itself counts only if its name or folder says that it is no part of the
    program: that one is not to be put back when its tests are.
    """
    files = [entry for entry in entries if entry.is_file and entry.size <= _LARGEST]
    reached = {entry.name: entry for entry in files if _is_led_to(entry.name, command)}
    found = {entry.name: entry for entry in _named(command, files) if _is_script(desk, entry)}
    ahead = [*reached.values(), *found.values()]
    names = [entry.name for entry in files]
    loaded = loaded_by(command, names, whole=True)
    while ahead and len(found) < _MOST:
        text = _text(desk, ahead.pop())
        loaded |= loaded_by(text, names)
        inner = _named(text, files)
        new = [entry for entry in inner if entry.name not in found and _is_for_tests(entry.name)]
        found |= {entry.name: entry for entry in new}
        ahead += new
    return loaded.union(found)


def leading_to(names: Iterable[str], command: str) -> frozenset[str]:
    """Those of some files that lead from a command to others, and are no manifest besides."""
    return frozenset(name for name in names if not is_sectioned(name) and _is_led_to(name, command))


def _is_led_to(name: str, command: str) -> bool:
    pattern = _LED_TO.get(PurePosixPath(name).name)
    return pattern is not None and re.search(pattern, command) is not None


def _named(text: str, files: Iterable[Entry]) -> Iterator[Entry]:
    """Files whose path, or the end of it, is a word of a text: that may be run in a folder of its own."""
    words = {word.removeprefix("./") for word in _WORD.findall(text)}
    last = {word.rsplit("/", 1)[-1] for word in words}
    for entry in files:
        name = entry.name
        if PurePosixPath(name).name in last and any(f"/{name}".endswith(f"/{_way(word)}") for word in words):
            yield entry


def _way(word: str) -> str:
    while word.startswith("../"):
        word = word[3:]
    return word


def _is_script(desk: Desk, entry: Entry) -> bool:
    place = PurePosixPath(entry.name)
    if place.suffix in _SHELLS or _is_for_tests(entry.name):
        return True
    return not place.suffix and _text(desk, entry).startswith("#!")


def _is_for_tests(name: str) -> bool:
    place = PurePosixPath(name)
    if place.suffix and place.suffix not in _PROGRAMS:
        return False
    is_shell = not place.suffix or place.suffix in _SHELLS
    return bool(_ABOUT_TESTS.search(place.stem)) or (
        is_shell and bool(_FOLDERS.intersection(place.parts[:-1]))
    )


def _text(desk: Desk, entry: Entry) -> str:
    return desk.git.run("cat-file", "blob", entry.id).decode("utf-8", errors="replace")
