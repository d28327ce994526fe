"""Replace exact pieces of a file, and say what stands there when they are not found."""

import difflib
import re
from typing import Any, ClassVar

from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen
from harness_executor.tools.place import Place, ToolError
from harness_executor.tools.target import aimed
from harness_executor.tools.text import Text, read_text

_SHOWN = 12
"""Lines of the file that are shown after a miss."""
_NUMBERED = re.compile(r"\s*[0-9]+\t")


@frozen
class Piece:
    """One replacement."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    old: str
    new: str


@frozen
class Edit:
    """What to replace."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    path: str
    old: str
    """Exact text, found once."""
    new: str
    all: bool = False
    """Replace every occurrence."""
    more: tuple[Piece, ...] = ()
    """Further edits of the file."""


def edit(place: Place, ask: Edit) -> str:
    """Make all edits of a call, or none."""
    with aimed(place, ask.path) as target:
        if target.old is None:
            raise ToolError(f"there is no file {target.name}")
        file = read_text(target.old, target.name)
        text, times = _edited(file, ask)
        target.replace(file.with_text(text).encode())
    place.touch(target.inner)
    return f"edited {ask.path}" + (f" in {times} places" if times > 1 else "")


def _edited(file: Text, ask: Edit) -> tuple[str, int]:
    """The text after all edits, and how many places they changed."""
    text, times = file.text, 0
    pieces = (Piece(ask.old, ask.new), *ask.more)
    for number, piece in enumerate(pieces, 1):
        which = f" {number} of {len(pieces)}" if ask.more else ""
        fitted = _fitted(piece, text, is_crlf=file.crlf)
        text, found = _replaced(text, fitted, ask, which)
        times += found
    return text, times


def _replaced(text: str, piece: Piece, ask: Edit, which: str) -> tuple[str, int]:
    lines = _places(text, piece.old)
    if not lines:
        raise ToolError(f"the old text{which} is not in {ask.path}{_hint(text, piece.old)}")
    if len(lines) > 1 and not ask.all:
        shown = ", ".join(map(str, lines[:10])) + (" …" if len(lines) > 10 else "")
        raise ToolError(
            f"the old text{which} is in {ask.path} {len(lines)} times, at lines {shown}; "
            "give more of its surroundings, or set all"
        )
    return text.replace(piece.old, piece.new), len(lines)


def _fitted(piece: Piece, text: str, *, is_crlf: bool) -> Piece:
    """A piece with the line ends of the file."""
    bare = Piece(piece.old.replace("\r\n", "\n"), piece.new.replace("\r\n", "\n"))
    if is_crlf:
        return bare
    if piece.old in text or "\r\n" not in text:
        return piece
    return Piece(bare.old.replace("\n", "\r\n"), bare.new.replace("\n", "\r\n"))


def _places(text: str, old: str) -> list[int]:
    """The lines at which a piece begins."""
    found: list[int] = []
    line, seen = 1, 0
    at = text.find(old) if old else -1
    while at >= 0:
        line += text.count("\n", seen, at)
        seen = at
        found.append(line)
        at = text.find(old, at + len(old))
    return found


def _hint(text: str, old: str) -> str:
    lines, wanted = text.split("\n"), old.strip("\n").split("\n")
    if not old.strip():
        return ""
    if all(_NUMBERED.match(line) for line in wanted):
        return "; give it without line numbers"
    at = _alike(lines, wanted)
    if at is not None:
        how = _difference(lines[at : at + len(wanted)], wanted)
        return f"; it differs {how} from{_shown(lines, at, len(wanted))}"
    at = _nearest(lines, wanted)
    return f"; the nearest lines are{_shown(lines, at, len(wanted))}" if at is not None else ""


def _shown(lines: list[str], at: int, many: int) -> str:
    shown = enumerate(lines[at : at + min(many, _SHOWN)], at + 1)
    return ":\n" + "\n".join(f"{number}\t{line[:300]}" for number, line in shown)


def _alike(lines: list[str], wanted: list[str]) -> int | None:
    """Where the same lines stand with other spaces."""
    bare, sought = ["".join(line.split()) for line in lines], ["".join(line.split()) for line in wanted]
    fits = (at for at in range(len(bare) - len(sought) + 1) if bare[at : at + len(sought)] == sought)
    return next(fits, None)


def _difference(there: list[str], wanted: list[str]) -> str:
    if any("\t" in line for line in there) != any("\t" in line for line in wanted):
        return "in tabs and spaces"
    if [line.strip() for line in there] == [line.strip() for line in wanted]:
        ends = [line.rstrip() for line in there] == [line.rstrip() for line in wanted]
        return "in spaces at line ends" if ends else "in indentation"
    return "in spaces"


def _nearest(lines: list[str], wanted: list[str]) -> int | None:
    sought = next(line for line in wanted if line.strip())
    close = difflib.get_close_matches(sought[:300], [line[:300] for line in lines[:50_000]], n=1, cutoff=0.6)
    if not close:
        return None
    at = next(number for number, line in enumerate(lines) if line[:300] == close[0])
    return max(0, at - wanted.index(sought))
