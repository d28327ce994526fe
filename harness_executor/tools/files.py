"""Read, write and edit files of the tree."""

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from harness_executor.kernel.canonical import STRICT
from harness_executor.tools.base import Place, Tool, ToolError, within

MAX_FILE = 2_000_000


@dataclass(frozen=True)
class Read:
    """What to read."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    path: str
    first: int = 1
    """First line."""
    lines: int = 800
    """How many lines."""


@dataclass(frozen=True)
class Write:
    """What to write."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    path: str
    content: str


@dataclass(frozen=True)
class Edit:
    """What to replace."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    path: str
    old: str
    """Exact text, found once."""
    new: str


def reading_tools(place: Place) -> tuple[Tool, ...]:
    """Tools that change nothing."""
    return (Tool("read_file", "Read a text file, with line numbers.", Read, lambda ask: _read(place, ask), reads=True),)


def writing_tools(place: Place) -> tuple[Tool, ...]:
    """Tools that change files."""
    return (
        Tool("write_file", "Create or replace a whole file.", Write, lambda ask: _write(place, ask)),
        Tool("edit_file", "Replace one exact piece of a file.", Edit, lambda ask: _edit(place, ask)),
    )


def _read(place: Place, ask: Read) -> str:
    path = within(place.root, ask.path)
    if path.is_dir():
        names = sorted(f"{inner.name}/" if inner.is_dir() else inner.name for inner in path.iterdir())
        return "\n".join(names)
    lines = _text(path).splitlines()
    first = max(1, ask.first)
    shown = lines[first - 1 : first - 1 + max(1, ask.lines)]
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(shown, first))
    left = len(lines) - (first - 1 + len(shown))
    return numbered + (f"\n… {left} more lines" if left > 0 else "")


def _write(place: Place, ask: Write) -> str:
    path = within(place.root, ask.path)
    if path.exists() and not path.is_file():
        raise ToolError(f"{ask.path} is not a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ask.content, encoding="utf-8", newline="")
    place.touch(ask.path)
    return f"wrote {len(ask.content.splitlines())} lines to {ask.path}"


def _edit(place: Place, ask: Edit) -> str:
    path = within(place.root, ask.path)
    text = _text(path)
    times = text.count(ask.old) if ask.old else 0
    if times == 0:
        raise ToolError(f"the old text is not in {ask.path}{_nearest(text, ask.old)}")
    if times > 1:
        raise ToolError(f"the old text is in {ask.path} {times} times; give more of its surroundings")
    path.write_text(text.replace(ask.old, ask.new), encoding="utf-8", newline="")
    place.touch(ask.path)
    return f"edited {ask.path}"


def _text(path: Path) -> str:
    if not path.is_file():
        raise ToolError(f"there is no file {path.name}")
    size = path.stat().st_size
    if size > MAX_FILE:
        raise ToolError(f"{path.name} has {size} bytes; at most {MAX_FILE} are read")
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        raise ToolError(f"{path.name} is not a text file") from None


def _nearest(text: str, old: str) -> str:
    wanted = next((line for line in old.splitlines() if line.strip()), "")
    close = difflib.get_close_matches(wanted, text.splitlines(), n=1, cutoff=0.6)
    return f"; the nearest line is: {close[0]}" if close else ""
