"""JSON with one reading only: one text for each value, and no value for an ambiguous text."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]

STRICT: dict[str, Any] = {"extra": "forbid"}
"""How the boundary reads a type that carries this: no unknown key."""

MAX_TEXT = 8_000_000
MAX_DEPTH = 100
MAX_DIGITS = 400

_STRING = re.compile(r'"(?:[^"\\]++|\\.?)*+"?', re.DOTALL)
"""A string, even one that never ends."""
_NO_BRACKETS = re.compile(r"[^\[\]{}]++")


class Ambiguous(ValueError):
    """The text is not JSON, or could be read in more than one way."""


def canonical(value: Any) -> str:
    """The one text for this value: sorted keys, no spaces, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(value: Any) -> str:
    """The SHA-256 of the canonical text."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def parse(text: str) -> Any:
    """The value of a JSON text; duplicate keys, NaN, huge numbers and deep nesting are refused."""
    if len(text) > MAX_TEXT:
        raise Ambiguous(f"{len(text)} characters of JSON; at most {MAX_TEXT} are read")
    if _depth(text) > MAX_DEPTH:
        raise Ambiguous(f"nested deeper than {MAX_DEPTH} levels")
    return parse_own(text)


def parse_own(text: str) -> Any:
    """The same of a text that we wrote ourselves, however long and deep: it may hold many that were read."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_small,
        )
    except json.JSONDecodeError as error:
        raise Ambiguous(f"line {error.lineno} column {error.colno}: {error.msg}") from error


def _depth(text: str) -> int:
    at_most = text.count("[") + text.count("{")
    if at_most <= MAX_DEPTH:
        return at_most
    depth = deepest = 0
    for bracket in _NO_BRACKETS.sub("", _STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise Ambiguous(f"key {twice!r} appears twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise Ambiguous(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise Ambiguous(f"the number {text[:20]} is too large")
    return number


def _small(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise Ambiguous(f"a number of {len(text)} digits")
    return int(text)
