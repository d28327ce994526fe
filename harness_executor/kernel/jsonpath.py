"""Where in an answer to look: `$.items[0].id`, `$['a b']`, `$.items[*].id`."""

import re
from typing import Any

_PART = re.compile(
    r"\.([A-Za-z_][\w-]*)|\[(-?\d{1,9})\]"
    r"|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]|(\[\*\]|\.\*)",
    re.DOTALL,
)

Part = str | int | None
"""A key, an index, or None for every element."""


class BadPath(ValueError):
    """The path cannot be read."""


def parse(path: str) -> tuple[Part, ...]:
    """The parts of a path."""
    if not path.startswith("$"):
        raise BadPath(f"a path starts with $, not {path[:20]!r}")
    parts: list[Part] = []
    at = 1
    while at < len(path):
        found = _PART.match(path, at)
        if found is None:
            raise BadPath(f"cannot read {path[at:]!r} in {path!r}")
        key, index, single, double, every = found.groups()
        parts.append(None if every else int(index) if index is not None else _first(key, single, double))
        at = found.end()
    return tuple(parts)


def find(path: str, value: Any) -> list[Any]:
    """Every value at the path, in order; none when there is nothing there."""
    found = [value]
    for part in parse(path):
        found = [inner for outer in found for inner in _inside(outer, part)]
    return found


def is_many(path: str) -> bool:
    """Can the path stand for more than one value?"""
    return None in parse(path)


def quoted(key: str) -> str:
    """A key as it stands between quotes."""
    return re.sub(r"[\\'\"]", r"\\\g<0>", key)


def _first(key: str | None, *quoted_keys: str | None) -> str:
    if key is not None:
        return key
    return next(re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL) for text in quoted_keys if text is not None)


def _inside(value: Any, part: Part) -> list[Any]:
    match value, part:
        case dict(), None:
            return list(value.values())
        case list(), None:
            return list(value)
        case dict(), str() if part in value:
            return [value[part]]
        case list(), int() if -len(value) <= part < len(value):
            return [value[part]]
    return []
