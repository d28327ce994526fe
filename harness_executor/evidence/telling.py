"""The one line of a long output that tells why a program failed."""

import re
from collections.abc import Iterator

LONGEST = 200
_COLOUR = re.compile(r"(?:\x1b|\\x1b)\[[\d;]*[A-Za-z]")
_ERROR = re.compile(
    r"(?:^|[\s\[(])(?:[\w$.]*(?:Error|Exception)|ERR!?|FATAL|panic|error)\b(?: \[\w+\])?:\s*\S"
)
"""A line that names an error and says something of it."""
_FRAME = re.compile(
    r"^(?:at |File \"|node:internal|Node\.js v\d|npm (?:error|ERR!|warn|notice)|[\s^~}{)\]]*$)"
)
"""A line that only leads to an error: where it was, or who passed it on."""


def telling_line(text: str) -> str:
    """The last line that names an error, else the last that is more than a place or a bracket."""
    lines = [_COLOUR.sub("", line).strip() for line in text.splitlines()]
    useful = [line for line in lines if line and not _FRAME.match(line)]
    return next(_best(useful), "")[:LONGEST]


def error_line(text: str) -> str:
    """The last line that names an error, as it stands; nothing if none does."""
    lines = [line for line in text.splitlines() if not _FRAME.match(_COLOUR.sub("", line).strip())]
    return next((line for line in reversed(lines) if _ERROR.search(_COLOUR.sub("", line))), "")


def _best(lines: list[str]) -> Iterator[str]:
    yield from (line for line in reversed(lines) if _ERROR.search(line))
    yield from reversed(lines)
