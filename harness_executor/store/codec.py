"""Facts as JSON and back."""

import dataclasses
import types
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from harness_executor.kernel import events, revisions, survey
from harness_executor.kernel.events import Fact

_FACTS: dict[str, type[Fact]] = {
    name: kind
    for name, kind in {**vars(events), **vars(revisions), **vars(survey)}.items()
    if isinstance(kind, type) and issubclass(kind, Fact) and kind is not Fact
}


T = TypeVar("T")


class UnknownFact(ValueError):
    """A log holds a fact this version does not know."""


def encode(fact: Fact) -> tuple[str, dict[str, Any]]:
    """The name and the data of a fact."""
    return type(fact).__name__, plain(fact)


def decode(name: str, data: Mapping[str, Any]) -> Fact:
    """The fact of a name and its data."""
    if name not in _FACTS:
        raise UnknownFact(f"{name} is not a fact this version knows")
    return build(_FACTS[name], data)


def plain(value: Any) -> Any:
    """A value as JSON data."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    match value:
        case StrEnum():
            return value.value
        case Mapping():
            return {str(key): plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plain(inner) for inner in value]
    return value


def build(kind: type[T], data: Any) -> T:
    """A value of a dataclass from JSON data; fields a newer version added are refused."""
    if not isinstance(data, Mapping):
        raise UnknownFact(f"{kind.__name__} is an object, not {type(data).__name__}")
    hints = _hints(cast(Any, kind))
    unknown = set(data) - set(hints)
    if unknown:
        raise UnknownFact(f"{kind.__name__} has no field {', '.join(sorted(unknown))}")
    return kind(**{name: _value(hints[name], inner) for name, inner in data.items()})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    names = {field.name for field in dataclasses.fields(kind)}
    return {name: hint for name, hint in get_type_hints(kind).items() if name in names}


def _value(hint: Any, data: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _either(get_args(hint), data)
    if origin is tuple:
        return tuple(_value(get_args(hint)[0], inner) for inner in data)
    if origin is not None and issubclass(origin, Mapping):
        return {key: _value(get_args(hint)[1], inner) for key, inner in data.items()}
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint(data)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return build(hint, data)
    return data


def _either(options: tuple[Any, ...], data: Any) -> Any:
    if data is None or isinstance(data, str | int | float | bool):
        return data
    structured = [
        option for option in options if get_origin(option) is not None or dataclasses.is_dataclass(option)
    ]
    return _value(structured[0], data) if structured else data
