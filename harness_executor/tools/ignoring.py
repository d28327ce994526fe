"""Which files of a tree its ignore files hide, as git and ripgrep see it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from harness_executor.kernel.frozen import frozen
from harness_executor.tools.beneath import FOLDER, Root
from harness_executor.tools.place import ToolError
from harness_executor.tools.text import MAX_FILE, plain_file

SKIPPED = (".git", ".venv", "venv", "node_modules", "__pycache__")
"""Folders that are never looked into."""
IGNORE_FILES = (".rgignore", ".ignore", ".gitignore")
"""Ignore files; the first one that has a word on a path decides, and of one name the nearest."""
_DIRECTORY = "ps_d"
"""The group with which pathspec marks that a folder was matched, or what lies in it."""


@frozen
class Rule:
    """One line of an ignore file."""

    pattern: GitIgnoreSpecPattern

    def fits(self, name: str, *, is_dir: bool) -> bool:
        """Does it name this path itself, and not merely a folder above it?"""
        regex = self.pattern.regex
        if regex is None:
            return False
        found = regex.search(name)
        if found and (_DIRECTORY not in regex.groupindex or found[_DIRECTORY] is None):
            return True
        folder = f"{name}/"
        return is_dir and any(
            match.end() == len(folder) for match in regex.finditer(folder) if _DIRECTORY in regex.groupindex
        )


def rule(line: str) -> Rule:
    """The rule of a line; raises ValueError when it is none."""
    return Rule(GitIgnoreSpecPattern(line))


@frozen
class Ignoring:
    """The ignore files of a tree."""

    root: Root
    known: dict[str, tuple[tuple[Rule, ...], ...]] = field(default_factory=dict)

    def hides(self, name: str, *, is_dir: bool) -> bool:
        """Is a path hidden, apart from the folders it lies in?"""
        if is_dir and name.rpartition("/")[2] in SKIPPED:
            return True
        for line, inner in self._words(name):
            if line.fits(inner, is_dir=is_dir):
                return bool(line.pattern.include)
        return False

    def _words(self, name: str) -> Iterator[tuple[Rule, str]]:
        """Every rule that may have a word on a path, with the path as it sees it; the first word counts."""
        above = [name[:at] for at in range(len(name) - 1, 0, -1) if name[at] == "/"]
        rules = [(folder, self._rules(folder)) for folder in (*above, "")]
        ruled = [(folder, kinds) for folder, kinds in rules if any(kinds)]
        for kind in range(len(IGNORE_FILES)):
            for folder, kinds in ruled:
                inner = name[len(folder) + 1 :] if folder else name
                yield from ((line, inner) for line in kinds[kind])

    def hides_folder(self, name: str) -> bool:
        """Is a folder hidden, or one it lies in?"""
        parts = name.split("/") if name else []
        return any(self.hides("/".join(parts[:depth]), is_dir=True) for depth in range(1, len(parts) + 1))

    def hides_file(self, name: str) -> bool:
        """Is a file hidden, or a folder it lies in?"""
        return self.hides_folder(name.rpartition("/")[0]) or self.hides(name, is_dir=False)

    def files(self, folder: str = "") -> Iterator[str]:
        """Every plain file below a folder that is not hidden, in the order of the names."""
        start = self._below(folder)
        left = [Entry("", is_dir=True)] if start else []
        while start and left:
            entry = left.pop()
            name = "/".join(filter(None, (folder, entry.name)))
            if entry.name and self.hides(name, is_dir=entry.is_dir):
                continue
            if entry.is_dir:
                left += _entries(start, entry.name)
            else:
                yield name

    def _below(self, folder: str) -> Root | None:
        try:
            return self.root.below(folder or ".")
        except OSError:
            return None

    def _rules(self, folder: str) -> tuple[tuple[Rule, ...], ...]:
        """The rules of the ignore files of a folder, in each the last line first."""
        if folder not in self.known:
            names = (f"{folder}/{kind}" if folder else kind for kind in IGNORE_FILES)
            self.known[folder] = tuple(_read(self.root, name) for name in names)
        return self.known[folder]


@frozen
class Entry:
    """What stands in a folder, by its name below the root."""

    name: str
    is_dir: bool


def _entries(root: Root, folder: str) -> list[Entry]:
    """The folders and plain files of a folder, the last name first; no link is followed to it."""
    try:
        held = root.open(folder or ".", FOLDER)
    except OSError:
        return []
    above = f"{folder}/" if folder else ""
    try:
        with os.scandir(held) as found:
            entries = [
                Entry(above + entry.name, entry.is_dir(follow_symlinks=False))
                for entry in found
                if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []
    finally:
        os.close(held)
    return sorted(entries, key=lambda entry: os.fsencode(entry.name), reverse=True)


def _read(root: Root, name: str) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    for line in _lines(root, name):
        with suppress(ValueError):
            rules.append(rule(line))
    return tuple(reversed(rules))


def _lines(root: Root, name: str) -> list[str]:
    """The lines of an ignore file; one that is none, or too large, has none."""
    try:
        held = root.read(name)
    except OSError:
        return []
    try:
        with plain_file(held, name) as stream:
            data = stream.read(MAX_FILE + 1)
    except (OSError, ToolError):
        return []
    finally:
        os.close(held)
    return data.decode(errors="replace").splitlines() if len(data) <= MAX_FILE else []
