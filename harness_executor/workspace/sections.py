"""Parts of an environment.json, read so that a wrong one is named."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness_executor.errors import UsageError

_PLAIN = re.compile(r"(?:[A-Za-z0-9_@%+=:,./-]|\{[A-Za-z0-9_.-]+\})+")
"""A word that a shell leaves as it is; it may hold what is filled in."""


def section(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A section of that name; one of another shape says nothing."""
    found = data.get(name)
    return found if isinstance(found, Mapping) else {}


def texts(data: Mapping[str, Any]) -> dict[str, str]:
    """Names and values as texts, as variables are."""
    return {str(name): str(value) for name, value in data.items()}


def words(value: Any, where: str, path: Path) -> str:
    """A command as one text; the words of a list are joined so that a shell takes each as it is."""
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(type(part) in (str, int, float) for part in parts):
        raise UsageError(f"{path.name}: {where} is {value!r}", hint="a command, or a list of its words")
    text = value if isinstance(value, str) else " ".join(map(_quoted, map(str, parts)))
    if "\0" in text:
        raise UsageError(f"{path.name}: {where} holds a NUL", hint="take it out")
    return text


def _quoted(word: str) -> str:
    return word if _PLAIN.fullmatch(word) else shlex.quote(word)


def names(value: Any, where: str, path: Path) -> tuple[str, ...]:
    """A list of texts."""
    found = value or []
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise UsageError(f"{path.name}: {where} is {value!r}", hint="a list of texts")
    return tuple(found)
