"""Parts of an environment.json, read so that a wrong one is named."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness_executor.errors import UsageError


def section(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A section of that name; one of another shape says nothing."""
    found = data.get(name)
    return found if isinstance(found, Mapping) else {}


def texts(data: Mapping[str, Any]) -> dict[str, str]:
    """Names and values as texts, as variables are."""
    return {str(name): str(value) for name, value in data.items()}


def words(value: Any, where: str, path: Path) -> str:
    """A command as one text; a list of words is joined."""
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str | int | float) for part in parts):
        raise UsageError(f"{path.name}: {where} is {value!r}", hint="a command, or a list of its words")
    text = " ".join(str(part) for part in parts)
    if "\0" in text:
        raise UsageError(f"{path.name}: {where} holds a NUL", hint="take it out")
    return text


def names(value: Any, where: str, path: Path) -> tuple[str, ...]:
    """A list of texts."""
    found = value or []
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise UsageError(f"{path.name}: {where} is {value!r}", hint="a list of texts")
    return tuple(found)
