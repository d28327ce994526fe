"""What linters and compilers complain about, without lines and counts, so that it can be compared."""

import re
from collections.abc import Iterator

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PLACED = re.compile(r"^(?P<file>[^\s:][^:]*\.\w+):\d+(?::\d+)?(?:-\d+(?::\d+)?)?:? +(?:- +)?(?P<said>.+)$")
_PARENS = re.compile(r"^(?P<file>[^\s(][^(]*\.\w+)\(\d+,\d+\): (?P<said>.+)$")
_ARROW = re.compile(r"^\s*--> (?P<file>\S+?):\d+(?::\d+)?$")
_STYLISH = re.compile(r"^ +\d+:\d+ +(?P<said>(?:error|warning) .+)$")
_UNFORMATTED = re.compile(r"^(?:would reformat|\[warn\]):? +(?P<file>\S.*\.\w+)$", re.IGNORECASE)
_HEADER = re.compile(r"^(?P<file>/?\S.*\.\w+)$")
_QUIET = re.compile(r"^(?:note|info|information)\b", re.IGNORECASE)
_ELSEWHERE = re.compile(r"\b(lines?) \d+")
"""Where else a complaint points to."""
_COUNTED = re.compile(r"(?<=\()\d+/\d+(?=\))|\b\d+ > \d+\b")
"""How much there is, and how much there may be."""


def find_problems(output: str, root: str) -> tuple[str, ...]:
    """Every complaint as `file: message`: of ruff, eslint, mypy, tsc, Black, Prettier and the like."""
    return tuple(_short(file, root) + ": " + _plain(said) for file, said in _found(output))


def _found(output: str) -> Iterator[tuple[str, str]]:
    header = before = ""
    for line in (_ANSI.sub("", line).rstrip() for line in output.splitlines()):
        placed = _PLACED.match(line.lstrip()) or _PARENS.match(line)
        arrow, stylish, unformatted = _ARROW.match(line), _STYLISH.match(line), _UNFORMATTED.match(line)
        if unformatted:
            yield unformatted["file"], "wrong format"
        elif placed and not _QUIET.match(placed["said"]):
            yield placed["file"], placed["said"]
        elif arrow:
            yield arrow["file"], before
        elif stylish and header:
            yield header, stylish["said"]
        elif _HEADER.match(line):
            header = line
        before = line.strip() or before


def _plain(said: str) -> str:
    return _COUNTED.sub("…", _ELSEWHERE.sub(r"\1 …", " ".join(said.split())))


def _short(file: str, root: str) -> str:
    return file.removeprefix(f"{root}/").removeprefix("./")
