"""The change with the tests of base, and with the way base runs them."""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from harness_executor.kernel.testfiles import is_sectioned, is_test, steers_tests
from harness_executor.workspace.export import Desk
from harness_executor.workspace.testing.companions import companions_of
from harness_executor.workspace.testing.scripts import scripts_of
from harness_executor.workspace.trees import Entry, list_tree

_OF_NODE = ("scripts", "jest", "mocha", "ava", "vitest", "c8", "nyc", "tap")
"""Keys of package.json that say how tests are run."""
_OF_PYTHON = ("pytest", "tox", "nox", "hatch", "poe", "pdm", "coverage", "behave")
"""Tables of tool in pyproject.toml that say how tests are run."""


def pristine_tree(desk: Desk, base: str, change: str, command: str = "") -> str:
    """The tree of the change with the tests and scripts of base; the change itself if that is the same."""
    before = {entry.name: entry for entry in list_tree(desk.git, base) if not entry.is_submodule}
    after = {entry.name: entry for entry in list_tree(desk.git, change) if not entry.is_submodule}
    differing = _differing(before, after)
    aside = scripts_of(desk, before.values(), command)
    aside |= companions_of(desk, base, [before[name] for name in differing if name in before])
    removed, put = [], []
    for name in differing:
        old, new = before.get(name), after.get(name)
        if is_test(name) or steers_tests(name) or name in aside:
            removed += [name] if new and not old else []
            put += [old] if old else []
        elif is_sectioned(name) and old and new:
            put += list(_sections(desk, old, new))
    return _written(desk, change, removed, put) if removed or put else change


def _differing(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> list[str]:
    names = sorted(before.keys() | after.keys())
    return [name for name in names if not _same(before.get(name), after.get(name))]


def _same(old: Entry | None, new: Entry | None) -> bool:
    return bool(old and new and (old.id, old.mode) == (new.id, new.mode))


def _sections(desk: Desk, old: Entry, new: Entry) -> Iterator[Entry]:
    """The file with those parts of base that say how tests are run."""
    try:
        if old.name.endswith(".json"):
            yield from _of_node(desk, old, new)
        elif _steering(tomllib.loads(_text(desk, old))) != _steering(tomllib.loads(_text(desk, new))):
            yield old
    except (ValueError, RecursionError):
        yield old


def _of_node(desk: Desk, old: Entry, new: Entry) -> Iterator[Entry]:
    before, after = json.loads(_text(desk, old)), json.loads(_text(desk, new))
    kept = {key: value for key, value in after.items() if key not in _OF_NODE}
    mixed = {**kept, **{key: before[key] for key in _OF_NODE if key in before}}
    if mixed != after:
        text = json.dumps(mixed, indent=2) + "\n"
        blob = desk.git.text("hash-object", "-w", "--stdin", stdin=text.encode())
        yield Entry(new.mode, blob, len(text), new.name)


def _steering(data: Mapping[str, Any]) -> dict[str, Any]:
    tools = data.get("tool")
    return {name: tools[name] for name in _OF_PYTHON if name in tools} if isinstance(tools, Mapping) else {}


def _text(desk: Desk, entry: Entry) -> str:
    return desk.git.run("cat-file", "blob", entry.id).decode("utf-8", errors="replace")


def _written(desk: Desk, change: str, removed: list[str], put: list[Entry]) -> str:
    index = desk.path / f"pristine-{os.getpid()}.index"
    where = {"GIT_INDEX_FILE": str(index)}
    gone = "".join(f"0 {'0' * len(change)}\t{name}\0" for name in removed)
    lines = gone + "".join(f"{entry.mode} {entry.id}\t{entry.name}\0" for entry in put)
    try:
        desk.git.run("read-tree", change, extra=where)
        words = ("update-index", "--add", "--replace", "-z", "--index-info")
        desk.git.run(*words, stdin=lines.encode(errors="surrogateescape"), extra=where)
        return desk.git.text("write-tree", extra=where)
    finally:
        index.unlink(missing_ok=True)
