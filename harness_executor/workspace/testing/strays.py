"""Reports that a command writes by its own wish, wherever in the tree it puts them."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from harness_executor.workspace.dependencies import DEPENDENCIES
from harness_executor.workspace.testing.reading import read_text

_MOST = 5_000
"""Files that are looked at."""
_SETTINGS = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_OWN = re.compile(r"--junit-?xml(?:=|[\s\"',]+)[\"']?(?P<place>[^\s\"',\]]+)")

Seen = dict[Path, tuple[int, int, int]]
"""What each file looked like."""


def names_a_report(text: str) -> bool:
    """Does a command say itself where pytest writes its report?"""
    return _OWN.search(text) is not None


def settles_a_report(tree: Path) -> bool:
    """Do the settings of pytest say where its report goes, and is that in the tree?"""
    return any(not place.startswith(("/", "~", "$", "..")) for place in _settled(tree))


def _settled(tree: Path) -> Iterator[str]:
    for name in _SETTINGS:
        with suppress(OSError, ValueError):
            yield from (found["place"] for found in _OWN.finditer(read_text(tree / name)))


def see(tree: Path) -> Seen:
    """Every file of a tree that may be a report in XML; links are not followed."""
    found: Seen = {}
    for path in islice(_files(tree), _MOST):
        with suppress(OSError):
            state = path.lstat()
            found[path] = (state.st_mtime_ns, state.st_size, state.st_ino)
    return found


def _files(tree: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if name not in DEPENDENCIES and not name.startswith(".")]
        yield from (Path(folder, name) for name in files if name.endswith(".xml"))


def written_since(tree: Path, before: Seen) -> Iterator[Path]:
    """Files that came, or are not as they were."""
    yield from sorted(path for path, state in see(tree).items() if before.get(path) != state)
