"""A piece of a scenario with its values filled in, wherever a text may hold one."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar, cast

from harness_executor.kernel import jsonpath
from harness_executor.kernel.expectation import JsonCheck, Op
from harness_executor.kernel.values import fill, fill_quoted

T = TypeVar("T")

_ANY = {"json", "value", "args", "send"}
"""Fields whose values keep their type; every other text stays a text."""
_NAMED = {"files"}
"""Fields whose names may hold a value as well."""
_AS_IT_IS = {"code"}
"""Fields that are taken as they are written."""
_PATTERNS = {"body_matches", "stdout_matches", "stderr_matches", "matches"}
"""Fields with regular expressions."""


def filled(value: T, known: Mapping[str, Any], seed: str) -> T:
    """A request, a command or an expectation with every {{ name }} replaced."""
    return cast(T, _filled(value, known, seed, is_any=False))


def _filled(value: Any, known: Mapping[str, Any], seed: str, *, is_any: bool) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _of_fields(value, known, seed)
    match value:
        case StrEnum():
            return value
        case tuple() if any(map(is_dataclass, value)):
            return tuple(_of_fields(inner, known, seed) for inner in value)
        case tuple():
            return tuple(
                _filled(inner, known, f"{seed}.{at}", is_any=is_any) for at, inner in enumerate(value)
            )
        case Mapping() if not is_any:
            return {key: _filled(inner, known, f"{seed}:{key}", is_any=False) for key, inner in value.items()}
        case str() if not is_any:
            return str(fill(value, known, seed))
    return fill(value, known, seed)


def _of_fields(value: Any, known: Mapping[str, Any], seed: str) -> Any:
    found: dict[str, Any] = {}
    for name in (field.name for field in fields(value) if field.name not in _AS_IT_IS):
        inner, quote = getattr(value, name), _quote_of(value, name)
        found[name] = (
            _quoted(inner, known, quote, f"{seed}:{name}")
            if quote
            else _filled(inner, known, f"{seed}:{name}", is_any=name in _ANY)
        )
    for name in _NAMED & found.keys():
        found[name] = {str(fill(key, known, f"{seed}:{name}")): inner for key, inner in found[name].items()}
    return replace(value, **found)


def _quote_of(value: Any, name: str) -> Callable[[str], str] | None:
    """How values are put where letters mean something: in a path, and in a regular expression."""
    match value, name:
        case JsonCheck(), "path":
            return jsonpath.quoted
        case JsonCheck(op=Op.MATCHES), "value":
            return re.escape
    return re.escape if name in _PATTERNS else None


def _quoted(value: Any, known: Mapping[str, Any], quote: Callable[[str], str], seed: str) -> Any:
    match value:
        case str():
            return fill_quoted(value, known, quote, seed)
        case tuple():
            return tuple(_quoted(inner, known, quote, f"{seed}.{at}") for at, inner in enumerate(value))
    return value
