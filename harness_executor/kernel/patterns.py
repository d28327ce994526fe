"""Patterns that people and models write, tried on texts that servers and programs write."""

import re

_SECONDS = 10.0
"""How long a pattern is tried on one text; some could be tried for ever on a text made for it."""


def problem(pattern: str) -> str:
    """Why a pattern cannot be read; empty if it can."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return ""


def matches(pattern: str, text: str) -> bool:
    """Does a text hold the pattern? One that cannot be read, or is tried for too long, holds nowhere."""
    if problem(pattern):
        return False
    import regex  # noqa: PLC0415 - most answers are compared without a pattern

    try:
        return regex.search(pattern, text, timeout=_SECONDS) is not None
    except (regex.error, OverflowError, RecursionError, TimeoutError):
        return False
