"""Names of files, compared as the least careful file system would compare them."""

import unicodedata
from fnmatch import fnmatchcase

from harness_executor.kernel.invisible import without_invisible

_WILD = frozenset("*?[")


def folded(path: str) -> tuple[str, ...]:
    """The parts of a path without case, width, invisible characters, streams, trailing dots and spaces."""
    plain = without_invisible(unicodedata.normalize("NFKC", path)).casefold()
    parts = unicodedata.normalize("NFKC", plain).replace("\\", "/").split("/")
    trimmed = (part.split(":", 1)[0].rstrip(". ") for part in parts)
    return tuple(part for part in trimmed if part)


def matches(parts: tuple[str, ...], pattern: str) -> bool:
    """Does a folded path fit a pattern? `/x` is at the root only, `x/` is x and everything in it."""
    wanted = pattern.strip("/").split("/")
    last = 0 if pattern.startswith("/") else len(parts) - len(wanted)
    return any(
        _fits(parts[start : start + len(wanted)], wanted)
        and (pattern.endswith("/") or start + len(wanted) == len(parts))
        for start in range(last + 1)
    )


def _fits(parts: tuple[str, ...], wanted: list[str]) -> bool:
    return len(parts) == len(wanted) and all(map(_fits_name, parts, wanted))


def _fits_name(part: str, wanted: str) -> bool:
    # most patterns are plain names, and making each into an expression takes longer than all the rest
    return part == wanted if _WILD.isdisjoint(wanted) else fnmatchcase(part, wanted)
