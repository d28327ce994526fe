"""The change with the tests of base and its way to run them, or with its rules for code."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.rulefiles import is_of_typescript, sets_rules
from harness_executor.kernel.testfiles import is_sectioned, is_test, shadows_runner, steers_tests
from harness_executor.workspace.dependencies import DEPENDENCIES
from harness_executor.workspace.export import Desk
from harness_executor.workspace.testing.companions import companions_of
from harness_executor.workspace.testing.goldens import goldens_of
from harness_executor.workspace.testing.scripts import leading_to, scripts_of
from harness_executor.workspace.testing.splicing import splice_json, splice_toml, splice_tsconfig
from harness_executor.workspace.trees import Entry, list_tree


@frozen
class Held:
    """What of base is laid over a change."""

    has: Callable[[str], bool]
    """Is it this file?"""
    of_node: tuple[str, ...]
    """Keys of package.json."""
    of_python: tuple[str, ...]
    """Tables of tool in pyproject.toml."""


TESTS = Held(
    lambda name: is_test(name) or steers_tests(name),
    ("scripts", "jest", "mocha", "ava", "vitest", "c8", "nyc", "tap"),
    ("pytest", "tox", "nox", "hatch", "poe", "pdm", "coverage", "behave"),
)
RULES = Held(
    sets_rules,
    ("scripts", "eslintConfig", "eslintIgnore", "prettier", "stylelint", "xo", "standard"),
    (
        *("ruff", "mypy", "pyright", "basedpyright", "ty", "black", "isort", "pylint", "flake8", "bandit"),
        *("pydocstyle", "codespell", "tox", "nox", "hatch", "poe"),
    ),
)


def pristine_tree(desk: Desk, base: str, change: str, command: str = "", held: Held = TESTS) -> str:
    """The tree of the change with what base holds and its scripts; the change itself if that is the same."""
    before = {entry.name: entry for entry in list_tree(desk.git, base) if not entry.is_submodule}
    after = {entry.name: entry for entry in list_tree(desk.git, change) if not entry.is_submodule}
    differing = _differing(before, after)
    aside = scripts_of(desk, before.values(), command) | leading_to(differing, command)
    if held is TESTS:
        aside |= {name for name in differing if name not in before and _is_shadow(name, before)}
        touched = [before[name] for name in differing if name in before]
        aside |= companions_of(desk, base, touched) | goldens_of(desk, base, touched)
    removed, put = [], []
    for name in differing:
        old, new = before.get(name), after.get(name)
        if _is_installed(name, before):
            removed.append(name)
        elif held.has(name) or name in aside:
            removed += [name] if new and not old and (held is TESTS or _is_beside(name, before)) else []
            put += [old] if old else []
        elif (is_sectioned(name) or (held is RULES and is_of_typescript(name))) and old and new:
            put += list(_sections(desk, held, old, new))
    return _written(desk, change, removed, put) if removed or put else change


def _is_installed(name: str, before: Mapping[str, Entry]) -> bool:
    """Does it lie where packages are installed, in a folder of which base tracks nothing?"""
    parts = name.split("/")
    depth = next((at for at, part in enumerate(parts, 1) if part in DEPENDENCIES), 0)
    folder = "/".join(parts[:depth])
    return bool(folder) and not any(f"{other}/".startswith(f"{folder}/") for other in before)


def _is_shadow(name: str, before: Mapping[str, Entry]) -> bool:
    """Can it come before a part of a runner? Not in a package, nor in a folder that base has not."""
    folder = shadows_runner(name)
    if not folder:
        return folder is not None
    return f"{folder}/__init__.py" not in before and any(other.startswith(f"{folder}/") for other in before)


def _is_beside(name: str, before: Mapping[str, Entry]) -> bool:
    """Are there files of base in that folder or below? Those of a new package have no rules of base."""
    folder = str(PurePosixPath(name).parent)
    return folder == "." or any(other.startswith(f"{folder}/") for other in before)


def _differing(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> list[str]:
    names = sorted(before.keys() | after.keys())
    return [name for name in names if not _same(before.get(name), after.get(name))]


def _same(old: Entry | None, new: Entry | None) -> bool:
    return bool(old and new and (old.id, old.mode) == (new.id, new.mode))


def _sections(desk: Desk, held: Held, old: Entry, new: Entry) -> Iterator[Entry]:
    """The file with those parts of base that are held."""
    before, after = _text(desk, old), _text(desk, new)
    try:
        if old.name.endswith(".toml"):
            text = splice_toml(before, after, held.of_python)
        elif is_of_typescript(old.name):
            text = splice_tsconfig(before, after)
        else:
            text = splice_json(before, after, held.of_node)
    except (ValueError, TypeError, RecursionError):
        text = before
    if text != after:
        blob = desk.git.text("hash-object", "-w", "--stdin", stdin=text.encode(errors="surrogateescape"))
        yield Entry(new.mode, blob, len(text), new.name)


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
