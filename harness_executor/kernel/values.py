"""Values drawn at run time and put into a scenario, so that known inputs cannot be special-cased."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness_executor.kernel.canonical import canonical
from harness_executor.kernel.drawing import KINDS

_HOLE = re.compile(r"\{\{\s*([A-Za-z_][\w.]*)\s*\}\}")
DRAWN = "random."
"""What the names of drawn values begin with."""


class NoSuchValue(LookupError):
    """A scenario names a value that is neither captured nor drawn."""


def draw(kind: str, seed: str) -> Any:
    """The value of a kind for a seed."""
    if kind not in KINDS:
        raise NoSuchValue(_unknown(kind))
    return KINDS[kind](hashlib.sha256(f"{kind}:{seed}".encode()).digest())


def unknown_draws(value: Any) -> Iterator[str]:
    """Why holes of a value can never be filled: they ask for a kind that is not drawn."""
    kinds = (name.removeprefix(DRAWN) for name in names_in(value) if name.startswith(DRAWN))
    yield from (_unknown(kind) for kind in kinds if kind not in KINDS)


def names_in(value: Any) -> Iterator[str]:
    """The names of every hole in a value."""
    match value:
        case str():
            yield from (found[1] for found in _HOLE.finditer(value))
        case Mapping():
            for inner in value.values():
                yield from names_in(inner)
        case list() | tuple():
            for inner in value:
                yield from names_in(inner)


def bind(let: Mapping[str, str], seed: str) -> dict[str, Any]:
    """The values a scenario fixes at its start."""
    bound: dict[str, Any] = {}
    for name, text in let.items():
        bound[name] = fill(text, bound, f"{seed}:{name}")
    return bound


def fill_quoted(text: str, known: Mapping[str, Any], quote: Callable[[str], str], seed: str) -> str:
    """A text in which some letters mean something, with values that are taken as they are."""
    return _HOLE.sub(lambda hole: quote(_as_text(_look_up(hole[1], known, f"{seed}@{hole.start()}"))), text)


def fill(value: Any, known: Mapping[str, Any], seed: str = "") -> Any:
    """The value with every {{ name }} replaced; a text that is one hole keeps the type of its value."""
    match value:
        case str():
            return _fill_text(value, known, seed)
        case Mapping():
            return {key: fill(inner, known, f"{seed}.{key}") for key, inner in value.items()}
        case list() | tuple():
            return [fill(inner, known, f"{seed}.{index}") for index, inner in enumerate(value)]
    return value


def _fill_text(text: str, known: Mapping[str, Any], seed: str) -> Any:
    whole = _HOLE.fullmatch(text)
    if whole:
        return _look_up(whole[1], known, seed)
    return _HOLE.sub(lambda hole: _as_text(_look_up(hole[1], known, f"{seed}@{hole.start()}")), text)


def _unknown(kind: str) -> str:
    return f"random.{kind} is not known; there are random.{', '.join(KINDS)}"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value)


def _look_up(name: str, known: Mapping[str, Any], seed: str) -> Any:
    if name in known:
        return known[name]
    if name.startswith(DRAWN):
        return draw(name.removeprefix(DRAWN), seed)
    raise NoSuchValue(f"{name} was not captured by an earlier step")
