"""JSON with one thing wrong: a key gone, a value another, a list shorter."""

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice, pairwise
from typing import Any

Path = tuple[str | int, ...]

_MOST_LISTS = 10


class Place(StrEnum):
    """What is wrong with it."""

    KEY = "a key dropped"
    VALUE = "a value changed"
    TYPE = "a value of another type"
    LIST = "a list emptied, cut or doubled"
    SWAP = "values of two keys swapped"


def broken_values(value: Any, most: int = 60) -> Iterator[tuple[Place, Any]]:
    """The value with one thing wrong, in every way, in so many places at most."""
    for path in islice(_paths(value), most):
        yield from _broken_at(value, path)
    if not isinstance(value, dict | list):
        yield Place.VALUE, _another(value)
        yield Place.TYPE, _other_type(value)
    for path in islice(_of_type(value, list, most), _MOST_LISTS):
        yield from _broken_list(value, path)
    for path in islice(_of_type(value, dict, most), _MOST_LISTS):
        yield from _swapped(value, path)


def _broken_at(value: Any, path: Path) -> Iterator[tuple[Place, Any]]:
    if isinstance(path[-1], str):
        held = _at(value, path[:-1])
        without = {key: held[key] for key in held if key != path[-1]}
        yield Place.KEY, _put(value, path[:-1], without)
    inner = _at(value, path)
    if not isinstance(inner, dict | list):
        yield Place.VALUE, _put(value, path, _another(inner))
        yield Place.TYPE, _put(value, path, _other_type(inner))


def _broken_list(value: Any, path: Path) -> Iterator[tuple[Place, Any]]:
    inner = _at(value, path)
    if path:
        yield Place.LIST, _put(value, path, [])
    if len(inner) > 1:
        yield Place.LIST, _put(value, path, inner[:-1])
    yield Place.LIST, _put(value, path, [*inner, inner[-1]])


def _swapped(value: Any, path: Path) -> Iterator[tuple[Place, Any]]:
    inner = _at(value, path)
    plain = [key for key in inner if not isinstance(inner[key], dict | list)]
    for one, other in pairwise(plain):
        if inner[one] != inner[other]:
            yield Place.SWAP, _put(value, path, {**inner, one: inner[other], other: inner[one]})


def _paths(value: Any, above: Path = ()) -> Iterator[Path]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*above, key)
        yield from _paths(inner, (*above, key))


def _of_type(value: Any, kind: type, most: int) -> Iterator[Path]:
    """Where lists or objects are that hold something, the whole first."""
    for path in ((), *islice(_paths(value), most)):
        inner = _at(value, path)
        if isinstance(inner, kind) and inner:
            yield path


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _put(value: Any, path: Path, inner: Any) -> Any:
    """The value with something else at a path; what lies beside it is shared, not copied."""
    if not path:
        return inner
    made = value.copy()
    made[path[0]] = _put(value[path[0]], path[1:], inner)
    return made


def _another(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value + max(1.0, abs(value) / 2)
        case str():
            return f"{value}x"
    return "something"


def _other_type(value: Any) -> Any:
    match value:
        case bool() | int() | float():
            return str(value)
        case str():
            return 0
    return {}
