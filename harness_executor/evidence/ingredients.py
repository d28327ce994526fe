"""Everything that steps read, as the keys under which their outcome is kept."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from harness_executor.config import program, safe_environment
from harness_executor.evidence.keeping import Keys
from harness_executor.evidence.services.running import Wanted
from harness_executor.kernel.canonical import digest
from harness_executor.sandbox.base import Room
from harness_executor.workspace.chores import Chore
from harness_executor.workspace.project import Start
from harness_executor.workspace.trees import Entry

_VERSION = 1
_LANGUAGES = ("python3", "python", "node", "ruby", "php", "java", "go", "cargo", "dotnet", "sh")
"""Interpreters that a command may use without naming them."""
_ALWAYS = ("*settings*", "*config*", "*.env*", ".*")
"""Names of files that steps read whatever their inputs say; so is every file in the project's root."""
_PACKAGES = ("lib/python*/site-packages", "Lib/site-packages", ".bin")
_PARTS = re.compile(r"(\*\*/|\*\*|\*|\?)")
_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def keys_for(
    tree: str, listed: Iterable[Entry], room: Room, start: Start, wanted: tuple[Wanted, ...]
) -> Keys:
    """The keys of what the steps of a start make of a tree; none where it is not all theirs."""
    chores = tuple(chore for chore in start.chores if chore.is_step)
    if any(one.outside for one in wanted) or not chores:
        return Keys()
    around = [_VERSION, *_said(start, chores), [_service(one) for one in wanted], _machine(room, chores)]
    exact = digest([*around, tree])
    if not all(chore.inputs for chore in chores):
        return Keys(exact)
    patterns = {pattern for chore in chores for pattern in chore.inputs}
    files = {name for one in wanted for name in one.service.sql}
    read = [
        [entry.name, entry.mode, entry.id]
        for entry in listed
        if entry.name in files or is_read(entry.name, patterns)
    ]
    return Keys(exact, digest([*around, "inputs", read]))


def is_read(name: str, patterns: Iterable[str]) -> bool:
    """Does a step read a file, by what it declares and what all of them read?"""
    short = name.rsplit("/", 1)[-1]
    if short == name or any(fnmatch(short.lower(), pattern) for pattern in _ALWAYS):
        return True
    return any(re.fullmatch(_expression(pattern), name) for pattern in patterns)


def _expression(pattern: str) -> str:
    """A pattern as git and shells read it: `*` stays in a folder, `**` does not."""
    return "".join(_MEANING.get(part, re.escape(part)) for part in _PARTS.split(pattern.removeprefix("./")))


def _said(start: Start, chores: tuple[Chore, ...]) -> Iterator[Any]:
    yield [asdict(chore) for chore in chores]
    yield dict(start.env)
    yield dict(start.ports)


def _service(one: Wanted) -> list[Any]:
    programs = sorted(one.found.programs.values()) if one.found else []
    return [asdict(one.service), [_state(Path(path)) for path in programs]]


def _machine(room: Room, chores: tuple[Chore, ...]) -> list[Any]:
    """The programs of this machine, the packages of the project, and where it lies."""
    words = {word for chore in chores for word in _words(chore.command)}
    found = {name: program(name, outside=room.at) for name in sorted({*words, *_LANGUAGES})}
    programs = {name: _state(Path(path)) for name, path in found.items() if path}
    packages = {name: list(_contents(folder)) for name, folder in room.beside.items()}
    return [str(room.at), safe_environment(), programs, packages, sorted(room.copied), room.imports]


def _words(command: str) -> set[str]:
    try:
        return {word for word in shlex.split(command) if word and "/" not in word and "\0" not in word}
    except ValueError:
        return set()


def _contents(folder: Path) -> Iterator[Any]:
    """What shows that packages came, went or were replaced."""
    for place in (folder, *(one for pattern in _PACKAGES for one in sorted(folder.glob(pattern)))):
        yield _state(place)
        with os.scandir(place) as found:
            yield sorted([one.name, one.stat(follow_symlinks=False).st_mtime_ns] for one in found)


def _state(path: Path) -> list[Any]:
    real = path.resolve()
    state = real.stat()
    return [str(real), state.st_size, state.st_mtime_ns, state.st_ino]
