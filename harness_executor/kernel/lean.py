"""Data of a value for a digest: fields that came later are left out while they say nothing."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from typing import Any

LATER: Mapping[str, Any] = {"later": True}
"""Marks a field that older digests do not know."""


def lean(value: Any) -> Any:
    """A value as JSON data, without the later fields that have their default."""
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((field, getattr(value, field.name)) for field in fields(value))
        return {field.name: lean(inner) for field, inner in pairs if not _says_nothing(field, inner)}
    match value:
        case StrEnum():
            return value.value
        case Mapping():
            return {str(key): lean(inner) for key, inner in value.items()}
        case list() | tuple():
            return [lean(inner) for inner in value]
    return value


def _says_nothing(field: Field[Any], value: Any) -> bool:
    return "later" in field.metadata and is_default(field, value)


def is_default(field: Field[Any], value: Any) -> bool:
    """Has a field the value that it has when nothing is said?"""
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return bool(value == default)
