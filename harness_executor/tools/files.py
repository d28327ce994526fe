"""Read and write files of the tree."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from harness_executor.kernel.canonical import STRICT
from harness_executor.tools.base import MAX_RESULT, Place, Tool, ToolError, within
from harness_executor.tools.editing import Edit, edit
from harness_executor.tools.text import HEAD, MAX_FILE, decode, describe, is_binary, plain_file

LONGEST = 2000
"""Characters of a line that are shown."""
FARTHEST = 2_000_000_000
"""Bytes of a huge file that are passed over to find a line."""


@dataclass(frozen=True)
class Read:
    """What to read."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    path: str
    first: int = 1
    """First line."""
    lines: int = 800


@dataclass(frozen=True)
class Write:
    """What to write."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    path: str
    content: str


def reading_tools(place: Place) -> tuple[Tool, ...]:
    """Tools that change nothing."""
    words = "Read a file with line numbers, list a folder, or read an @output/ file."
    return (Tool("read_file", words, Read, lambda ask: _read(place, ask), reads=True),)


def writing_tools(place: Place) -> tuple[Tool, ...]:
    """Tools that change files."""
    return (
        Tool("write_file", "Create or replace a whole file.", Write, lambda ask: _write(place, ask)),
        Tool(
            "edit_file",
            "Replace exact text in a file; all edits of a call, or none.",
            Edit,
            lambda ask: edit(place, ask),
        ),
    )


def _read(place: Place, ask: Read) -> str:
    path = place.find(ask.path)
    if path.is_dir():
        names = sorted(f"{inner.name}/" if inner.is_dir() else inner.name for inner in path.iterdir())
        return "\n".join(names)
    first, most = max(1, ask.first), max(1, ask.lines)
    if plain_file(path).stat().st_size > MAX_FILE:
        return _part_of_huge(path, first, most)
    found = decode(path.read_bytes())
    if found is None:
        return f"[{describe(path)}; not shown]"
    lines = found.text.removesuffix("\n").split("\n") if found.text else []
    shown = _numbered(map(_cut, lines[first - 1 : first - 1 + most]), first)
    left = len(lines) - (first - 1) - len(shown)
    rest = f"… {left} more lines, from {first + len(shown)}" if left > 0 else ""
    note = f"[encoded in {found.encoding}]" if found.encoding != "utf-8" else ""
    return "\n".join(filter(None, ("\n".join(shown), rest, note)))


def _cut(line: str) -> str:
    text = line.removesuffix("\r")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … {len(text) - LONGEST} more characters"


def _numbered(lines: Iterable[str], first: int) -> list[str]:
    """As many numbered lines as may be sent."""
    shown: list[str] = []
    room = MAX_RESULT - 200
    for number, line in enumerate(lines, first):
        room -= len(line) + 8
        if room < 0:
            break
        shown.append(f"{number}\t{line}")
    return shown


def _part_of_huge(path: Path, first: int, most: int) -> str:
    size = path.stat().st_size
    with path.open("rb") as stream:
        if is_binary(stream.read(HEAD)):
            return f"[{describe(path)}; not shown]"
    lines = _lines_from(path, first)
    shown = _numbered((line for _, line in zip(range(most), lines, strict=False)), first)
    if not shown:
        raise ToolError(f"{path.name} has no line {first} in its first {min(size, FARTHEST)} bytes")
    return "\n".join([*shown, f"… the file has {size} bytes; read on from line {first + len(shown)}"])


def _lines_from(path: Path, first: int) -> Iterator[str]:
    """The lines of a file from a number on, without holding more of it than a piece."""
    number, line, length, seen = 1, b"", 0, 0
    with path.open("rb") as stream:
        while seen < FARTHEST and (piece := stream.readline(65_536)):
            seen += len(piece)
            line += piece[: max(0, LONGEST - len(line))] if number >= first else b""
            length += len(piece)
            if not piece.endswith(b"\n"):
                continue
            if number >= first:
                yield _shown(line, length)
            number, line, length = number + 1, b"", 0
    if length and number >= first:
        yield _shown(line, length)


def _shown(line: bytes, length: int) -> str:
    text = line.rstrip(b"\r\n").decode(errors="replace")
    return text if length <= LONGEST else f"{text} … {length - LONGEST} more bytes"


def _write(place: Place, ask: Write) -> str:
    path = within(place.root, ask.path)
    if path.exists() and not path.is_file():
        raise ToolError(f"{ask.path} is not a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ask.content, encoding="utf-8", newline="")
    place.touch(path)
    return f"wrote {len(ask.content.splitlines())} lines to {ask.path}"
