"""Two bodies line by line, JSON by its values: what stayed, what went, what came."""

import json
from collections.abc import Iterator
from difflib import SequenceMatcher

from harness_executor.evidence.rendering.telling import size, visible
from harness_executor.kernel.canonical import parse
from harness_executor.kernel.frozen import frozen

MOST_LINES = 400
MOST_COLUMNS = 1000
BINARY = "base64:"


@frozen
class Row:
    """One line on each side; nothing where the other side has more."""

    before: str | None
    after: str | None

    @property
    def same(self) -> bool:
        """Is it the same on both sides?"""
        return self.before == self.after


def rows(before: str, after: str) -> Iterator[Row]:
    """The lines of two bodies next to each other."""
    old, new = shown_lines(before), shown_lines(after)
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (Row(line, line) for line in old[a:b])
            continue
        length = max(b - a, d - c)
        left = [*old[a:b], *[None] * (length - (b - a))]
        right = [*new[c:d], *[None] * (length - (d - c))]
        yield from (Row(one, other) for one, other in zip(left, right, strict=True))


def shown_lines(body: str) -> list[str]:
    """A body as lines for people: JSON with its keys in order, and only so much of it."""
    if not body:
        return []
    if body.startswith(BINARY):
        return [f"binary, {size(len(body) * 3 // 4)}"]
    lines = visible(_pretty(body)).split("\n")
    over = len(lines) - MOST_LINES
    kept = [_short(line) for line in lines[:MOST_LINES]]
    return (
        kept if over <= 0 else [*kept, f"… {over:,} more lines of {size(len(body.encode(errors='replace')))}"]
    )


def parted(one: str, other: str) -> tuple[str, str, str]:
    """A line in three: what it begins with like the other, what differs, and what it ends with alike."""
    head = 0
    while head < min(len(one), len(other)) and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < min(len(one), len(other)) - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    end = len(one) - tail
    return one[:head], one[head:end], one[end:]


def _pretty(body: str) -> str:
    if body.lstrip()[:1] not in ("{", "["):
        return body
    try:
        return json.dumps(parse(body), indent=2, sort_keys=True, ensure_ascii=False)
    except ValueError:
        return body


def _short(line: str) -> str:
    over = len(line) - MOST_COLUMNS
    return line if over <= 0 else f"{line[:MOST_COLUMNS]} … {over:,} more characters"
