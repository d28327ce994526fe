"""The files of a project, read within bounds: no link is followed, and nothing is run."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from fnmatch import translate
from functools import cache, cached_property
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import yaml

from harness_executor.kernel.frozen import frozen

MOST_FILES = 20_000
MOST_BYTES = 400_000
"""What is read of one file."""
MOST_READ = 60_000_000
"""What is read of all files together."""
DEEPEST = 10
MOST_PARTS = 100_000
"""How many values a file of data may have, each counted as often as an alias of YAML stands for it."""
DEEPEST_DATA = 100
LONGEST_NUMBER = 8_000
"""How many bits a number may have: Python writes out no number of more than 4,300 digits."""

_WORDS = """
node_modules bower_components site-packages __pycache__ .git .hg .svn .tox .nox .eggs .venv venv dist build
target out coverage .next .nuxt .output .turbo .cache .mypy_cache .pytest_cache .ruff_cache .idea .yarn
"""
_SKIPPED = frozenset(_WORDS.split())
"""Folders that hold nothing anybody wrote."""
Made = TypeVar("Made")


@frozen
class Files:
    """A folder of files, by their place in it."""

    root: Path
    _kept: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _made: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _notes: list[str] = field(default_factory=list, repr=False, compare=False)
    _spent: list[int] = field(default_factory=lambda: [0], repr=False, compare=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every file, the shallowest first."""
        found = list(islice(_walk(self.root), MOST_FILES + 1))
        if len(found) > MOST_FILES:
            self.note(f"only the {MOST_FILES:,} files nearest to the root are looked at")
        return tuple(sorted(found[:MOST_FILES], key=lambda name: (name.count("/"), name)))

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that a file lies in."""
        parents = {str(parent) for name in self.names for parent in PurePosixPath(name).parents}
        return frozenset(parents)

    def has(self, name: str) -> bool:
        """Is there such a file?"""
        return name in self._known

    def like(self, *patterns: str) -> Iterator[str]:
        """The files whose whole place fits a pattern."""
        fits = _one_of(patterns).match
        return (name for name in self.names if fits(name))

    def named(self, *patterns: str) -> Iterator[str]:
        """The files whose own name fits a pattern, wherever they lie."""
        fits = _one_of(patterns).match
        return (name for name in self.names if fits(name.rsplit("/", 1)[-1]))

    @property
    def notes(self) -> tuple[str, ...]:
        """What of them was not looked at so far, and why."""
        return tuple(self._notes)

    def note(self, said: str) -> None:
        """Say once what is not looked at."""
        if said not in self._notes:
            self._notes.append(said)

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What is made of these files under a name, and is the same however often it is asked for."""
        if name not in self._made:
            self._made[name] = make()
        made: Made = self._made[name]
        return made

    def text(self, name: str) -> str:
        """What a file says, as far as it is read; nothing if it is not there or not text."""
        if name not in self._kept:
            self._kept[name] = self._read(name) if self.has(name) else ""
        return self._kept[name]

    def json(self, name: str) -> dict[str, Any]:
        """A JSON object; an empty one if it is not there or damaged."""
        return self.once(f"json {name}", lambda: self._data(name, _json))

    def toml(self, name: str) -> dict[str, Any]:
        """A TOML document; an empty one if it is not there or damaged."""
        return self.once(f"toml {name}", lambda: self._data(name, tomllib.loads))

    def yaml(self, name: str) -> dict[str, Any]:
        """A YAML mapping; an empty one if it is not there or damaged."""
        return self.once(f"yaml {name}", lambda: self._data(name, _yaml))

    def _data(self, name: str, parse: Callable[[str], Any]) -> dict[str, Any]:
        try:
            data = parse(self.text(name))
        except _DAMAGED:
            return {}
        if _is_bounded(data):
            return _table(data)
        self.note(f"{name} is left out: what it says is deeper or longer than any settings are")
        return {}

    def _read(self, name: str) -> str:
        left = min(MOST_BYTES, MOST_READ - self._spent[0])
        if left <= 0:
            self.note(f"only the first {MOST_READ:,} bytes of all files are read")
            return ""
        try:
            handle = os.open(self.root / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
            with os.fdopen(handle, "rb") as stream:
                data = stream.read(left)
        except OSError:
            return ""
        self._spent[0] += len(data)
        return "" if b"\0" in data else data.decode("utf-8-sig", errors="replace")


@cache
def _one_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in patterns))


def section(data: Any, *names: str) -> dict[str, Any]:
    """A table within a table, or an empty one."""
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return _table(data)


def _table(data: Any) -> dict[str, Any]:
    return {str(key): value for key, value in data.items()} if isinstance(data, dict) else {}


_DAMAGED = (
    yaml.YAMLError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RecursionError,
)
"""What parsers raise: the one of YAML whatever Python does, as where `!!bool` stands before another word."""


def _json(text: str) -> Any:
    return json.loads(text or "{}")


def _yaml(text: str) -> Any:
    """What a document says, or its parts as they are where aliases make too much of them."""
    node = yaml.compose(text, _Loader)
    return _Loader("").construct_document(node) if node and _is_bounded(node) else node


def _untagged(loader: yaml.SafeLoader, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return node.value


class _Loader(yaml.SafeLoader):
    """Reads YAML, and what has a tag of another program as if it had none."""

    yaml_constructors = {**yaml.SafeLoader.yaml_constructors, None: _untagged}  # noqa: RUF012 - as the base does


def _is_bounded(data: Any) -> bool:
    """Can it all be visited and written out, however often its parts stand for each other?"""
    level, left = [data], MOST_PARTS
    for _ in range(DEEPEST_DATA):
        if any(isinstance(one, int) and one.bit_length() > LONGEST_NUMBER for one in level):
            return False
        level = list(islice((part for one in level for part in _parts(one)), left))
        left -= len(level)
    return not level and left > 0


def _parts(data: Any) -> Iterable[Any]:
    if isinstance(data, dict):
        return (*data.keys(), *data.values())
    held = data.value if isinstance(data, yaml.CollectionNode) else data
    return held if isinstance(held, list | tuple | set) else ()


def _walk(root: Path) -> Iterator[str]:
    """Every file, those of each depth before any that lie deeper."""
    folders = [""]
    for _ in range(DEEPEST):
        below: list[str] = []
        for folder in folders:
            files, more = _listed(root, folder)
            yield from files
            below += more
        folders = below


def _listed(root: Path, inside: str) -> tuple[list[str], list[str]]:
    """The files and the folders of a folder that somebody wrote."""
    try:
        with os.scandir(root / inside) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return [], []
    if any(entry.name == "pyvenv.cfg" for entry in entries):
        return [], []
    start = f"{inside}/" if inside else ""
    files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    return [start + name for name in files], [start + name for name in folders if name not in _SKIPPED]
