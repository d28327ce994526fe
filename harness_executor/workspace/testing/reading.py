"""Reports that a program under test wrote: every one is read, none is trusted to be what it should be."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.testing import Outcome
from harness_executor.workspace.testing.junit import read_junit
from harness_executor.workspace.testing.lines import read_go, read_lines, read_tap, read_verbose
from harness_executor.workspace.testing.suites import read_suites

LARGEST = 64_000_000
"""Bytes of one report that are read."""
_MOST = 2_000
"""Report files that are read."""
_STARS = re.compile(r"\*+")
_WORSE = {Outcome.PASSED: 0, Outcome.SKIPPED: 1, Outcome.FAILED: 2}

Tests = dict[str, Outcome]


class Unreadable(ValueError):
    """A report is not one."""


@frozen
class Shelf:
    """Where the reports of one run are."""

    tree: Path
    root: Path
    """Where the program saw the tree."""
    folder: str
    """The folder of the tree that is ours."""
    named: str = ""
    """A pattern of the project's for reports that its own command writes."""

    def clear(self) -> None:
        """Remove reports that were there before the run."""
        for path in self._of_project():
            with suppress(OSError):
                path.unlink()

    def collect(self, output: str, strays: Iterable[Path] = (), *, mixed: bool = False) -> Tests | None:
        """Every test that was reported, in files or in the output; none if a report has none, else nothing.

        Strays are files that the command wrote by its own wish. They count where nothing else is known, or
        where several reports are known to be mixed.
        """
        found = self._all((*self._ours(), *self._of_project()))
        is_said = bool(found)
        if mixed or not any(found):
            found += self._all(islice(strays, _MOST))
        if not any(found):
            found = [read_go(output) or read_tap(output) or read_verbose(output)]
        return merged(found) or ({} if is_said else None)

    def _all(self, paths: Iterable[Path]) -> list[Tests]:
        found: list[Tests] = []
        for path in paths:
            with suppress(ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
                found.append(self._read(path))
        return found

    def _read(self, path: Path) -> Tests:
        text = read_text(path)
        match path.suffix:
            case ".xml":
                return read_junit(text, str(self.root))
            case ".jsonl":
                return read_lines(text, str(self.root))
            case ".json":
                return read_suites(text, str(self.root))
        return read_go(text) or read_tap(text)

    def _ours(self) -> Iterator[Path]:
        place = self.tree / self.folder
        if place.is_symlink() or not place.is_dir():
            return
        names = sorted(entry.name for entry in os.scandir(place))[:_MOST]
        yield from (place / name for name in names if name.endswith((".xml", ".json", ".jsonl")))

    def _of_project(self) -> Iterator[Path]:
        """A link on the way to a report leads nowhere."""
        if not self.named:
            return
        for path in sorted(self.tree.glob(_everywhere(self.named)))[:_MOST]:
            above = [self.tree / parent for parent in path.relative_to(self.tree).parents][:-1]
            if not any(parent.is_symlink() for parent in above):
                yield path


def _everywhere(pattern: str) -> str:
    """The pattern with each `**` as a folder of its own, as it has to be: `a/**.xml` means `a/**/*.xml`."""
    parts = (
        f"**/{_STARS.sub('*', part)}" if "**" in part and part != "**" else part
        for part in pattern.split("/")
    )
    return "/".join(parts)


def merged(reports: list[Tests]) -> Tests:
    """All tests of several reports; of one that is reported twice, the worse counts."""
    together: Tests = {}
    for tests in reports:
        for name, outcome in tests.items():
            before = together.get(name, outcome)
            together[name] = max(before, outcome, key=_WORSE.__getitem__)
    return together


def read_text(path: Path) -> str:
    """The text of a plain file, however it came to be there; a link, a pipe or a giant is no report."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as source:
        about = os.fstat(source.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
            raise Unreadable(f"{path.name} is no report")
        return source.read(LARGEST).decode("utf-8", errors="replace")
