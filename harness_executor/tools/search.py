"""Find text in the tree."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from harness_executor.kernel.canonical import STRICT
from harness_executor.sandbox.base import Sandbox
from harness_executor.tools.base import Place, Tool, ToolError, within

_SKIPPED = {".git", ".venv", "venv", "node_modules", "__pycache__"}
_MOST = 200


@dataclass(frozen=True)
class Search:
    """What to look for."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    pattern: str
    """A regular expression; empty lists the files."""
    path: str = "."


def searching_tools(place: Place, sandbox: Sandbox) -> tuple[Tool, ...]:
    """Tools that find."""
    return (
        Tool(
            "search",
            "Find lines by regular expression, or list files.",
            Search,
            lambda ask: _search(place.root, ask),
            reads=True,
        ),
    )


def _search(root: Path, ask: Search) -> str:
    start = within(root, ask.path)
    try:
        wanted = re.compile(ask.pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolError(f"not a regular expression: {error}") from error
    found: list[str] = []
    for path in _files(start):
        name = str(path.relative_to(root))
        found += [name] if not ask.pattern else _hits(path, name, wanted)
        if len(found) > _MOST:
            return "\n".join([*found[:_MOST], "… more; narrow the search"])
    return "\n".join(found) or "nothing found"


def _files(start: Path) -> Iterator[Path]:
    if start.is_file():
        yield start
    for parent, folders, files in os.walk(start):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        paths = (Path(parent) / name for name in sorted(files))
        yield from (path for path in paths if path.is_file() and not path.is_symlink())


def _hits(path: Path, name: str, wanted: re.Pattern[str]) -> list[str]:
    try:
        if path.stat().st_size > 2_000_000:
            return []
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    lines = enumerate(text.splitlines(), 1)
    return [f"{name}:{number}: {line[:300]}" for number, line in lines if wanted.search(line)]
