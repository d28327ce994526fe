"""Read and write files of the tree."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, BinaryIO, ClassVar

from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen
from harness_executor.tools.base import MAX_RESULT, Place, Tool, ToolError
from harness_executor.tools.editing import Edit, edit
from harness_executor.tools.place import Spot
from harness_executor.tools.target import aimed
from harness_executor.tools.text import HEAD, MAX_FILE, decode, describe, is_binary, plain_file

LONGEST = 2000
"""Characters of a line that are shown."""
FARTHEST = 2_000_000_000
"""Bytes of a huge file that are passed over to find a line."""


@frozen
class Read:
    """What to read."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    path: str
    first: int = 1
    """First line."""
    lines: int = 800


@frozen
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
    spot = place.find(ask.path)
    with spot.opened() as found:
        if stat.S_ISDIR(os.fstat(found).st_mode):
            return _listed(place, spot, found)
        with plain_file(found, spot.name) as stream:
            return _shown_lines(stream, spot.name, max(1, ask.first), max(1, ask.lines))


def _listed(place: Place, spot: Spot, folder: int) -> str:
    above = PurePosixPath(spot.prefix, spot.inner)
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_symlink(), entry.is_dir(follow_symlinks=False)) for entry in entries]
    names = [
        f"{name}/" if is_folder or (is_link and _leads_to_folder(place, above / name)) else name
        for name, is_link, is_folder in found
    ]
    return "\n".join(sorted(names))


def _leads_to_folder(place: Place, path: PurePosixPath) -> bool:
    spot = place.at(path.as_posix())
    return spot.root.has_folder(spot.inner)


def _shown_lines(stream: BinaryIO, name: str, first: int, most: int) -> str:
    data = stream.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        return _part_of_huge(stream, name, first, most)
    found = decode(data)
    if found is None:
        return f"[{describe(stream)}; not shown]"
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


def _part_of_huge(stream: BinaryIO, name: str, first: int, most: int) -> str:
    size = os.fstat(stream.fileno()).st_size
    stream.seek(0)
    if is_binary(stream.read(HEAD)):
        return f"[{describe(stream)}; not shown]"
    lines = _lines_from(stream, first)
    shown = _numbered((line for _, line in zip(range(most), lines, strict=False)), first)
    if not shown:
        raise ToolError(f"{name} has no line {first} in its first {min(size, FARTHEST)} bytes")
    return "\n".join([*shown, f"… the file has {size} bytes; read on from line {first + len(shown)}"])


def _lines_from(stream: BinaryIO, first: int) -> Iterator[str]:
    """The lines of a file from a number on, without holding more of it than a piece."""
    number, line, length, seen = 1, b"", 0, 0
    stream.seek(0)
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
    with aimed(place, ask.path, parents=True) as target:
        target.replace(ask.content.encode())
    place.touch(target.inner)
    return f"wrote {len(ask.content.splitlines())} lines to {ask.path}"
