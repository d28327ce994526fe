"""Two ways to find lines, which find the same: ripgrep, and a walk of our own."""

import base64
import json
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any, BinaryIO

from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Box, Cause, Command
from harness_executor.tools import matching
from harness_executor.tools.beneath import Root
from harness_executor.tools.ignoring import IGNORE_FILES, SKIPPED, Ignoring, rule
from harness_executor.tools.place import Place, ToolError
from harness_executor.tools.text import MAX_FILE, plain_file

SECONDS = 20.0
"""Time a search may take."""
_FLAGS = (
    *("--json", "--no-config", "--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-exclude"),
    *("--no-messages", "--crlf", "--sort", "path"),
)


class TooMuch(ToolError):
    """More was printed than is kept."""


@frozen
class Hit:
    """A line that fits."""

    name: str
    number: int
    text: str


@frozen
class Ground:
    """Where is looked: a folder with the ignore files that count, and a file or folder in it."""

    root: Path
    """Where commands find the folder."""
    held: Root
    """The folder itself."""
    inner: str = ""
    """A path below the root; empty for all of it."""
    glob: str = ""
    ignoring: Ignoring = field(init=False)
    is_file: bool = field(init=False)
    """Is it one file, which is looked at whatever it is?"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ignoring", Ignoring(self.held))
        object.__setattr__(self, "is_file", bool(self.inner) and self.held.has_file(self.inner))

    def names(self) -> Iterator[str]:
        """The files, by their names below the root."""
        if self.is_file:
            yield self.inner
        else:
            yield from filter(self._fits, self.ignoring.files(self.inner))

    def holds(self, name: str) -> bool:
        """Is this one of the files?"""
        return self.is_file or (self._fits(name) and not self.ignoring.hides_file(name))

    def is_small(self, name: str) -> bool:
        """Is a file not too large to be looked into? One that was asked for never is."""
        with suppress(OSError):
            return self.is_file or self.held.stat(name).st_size <= MAX_FILE
        return False

    def has_words_above(self) -> bool:
        """Do folders above the inner one have ignore files that stand over those below?"""
        parts = self.inner.split("/") if self.inner else []
        above = ["/".join([*parts[:depth], ""]) for depth in range(len(parts))]
        return any(self.held.has(folder + name) for folder in above for name in IGNORE_FILES[:-1])

    def is_text(self, name: str) -> bool:
        """Is a file text, as far as it is looked at?"""
        try:
            found = self.held.read(name)
        except OSError:
            return False
        try:
            with plain_file(found, name) as stream:
                return _is_text(stream)
        except ToolError:
            return False
        finally:
            os.close(found)

    def _fits(self, name: str) -> bool:
        wanted = self.glob.removeprefix("!")
        return not wanted or rule(wanted).fits(name, is_dir=False) != self.glob.startswith("!")


@frozen
class Finder:
    """Finds at most so many lines."""

    box: Box
    place: Place
    most: int
    seconds: float = SECONDS

    def by_walking(self, ground: Ground, pattern: str) -> list[Hit]:
        """Find with a walk of our own; raises ToolError."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise ToolError(f"not a regular expression: {error}") from error
        files = [name for name in ground.names() if ground.is_small(name)]
        asked = json.dumps({"pattern": pattern, "files": files, "most": self.most})
        script = self.box.script(Path(matching.__file__))
        return [Hit(*row) for row in self._lines(script, ground.root, asked)]

    def by_ripgrep(self, program: str, ground: Ground, pattern: str) -> list[Hit] | None:
        """Find with ripgrep; nothing when it cannot read the pattern, or finds too much."""
        globs = [word for name in SKIPPED for word in ("--glob", f"!{name}/")]
        wanted = ["--glob", ground.glob] if ground.glob else []
        limits = [] if ground.is_file else ["--max-filesize", str(MAX_FILE)]
        # what lies above is sieved out below; a word from there may show what it would hide
        ignore = ["--no-ignore" if ground.has_words_above() else "--no-ignore-parent"]
        count = ["--max-count", str(self.most)]
        where = ["--regexp", pattern, "--", f"./{ground.inner}"]
        argv = (program, *_FLAGS, *wanted, *globs, *limits, *ignore, *count, *where)
        try:
            rows = list(self._lines(argv, ground.root))
        except TooMuch:
            return None
        if not rows:
            return None
        found = [_hit(row["data"]) for row in rows if row["type"] == "match"]
        kept = {name for name in dict.fromkeys(hit.name for hit in found) if self._counts(ground, name)}
        return [hit for hit in found if hit.name in kept][: self.most]

    def _counts(self, ground: Ground, name: str) -> bool:
        return ground.holds(name) and ground.is_text(name)

    def _lines(self, argv: tuple[str, ...], root: Path, asked: str = "") -> Iterator[Any]:
        """What a program prints as JSON, line by line."""
        self.place.spill.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.place.spill) as folder:
            request, log = Path(folder) / "request", Path(folder) / "log"
            request.write_text(asked, encoding="utf-8")
            words = (*argv, str(self._seen(request))) if asked else argv
            done = self.box.run(Command(words, self._seen(root), {}, log), self.seconds)
            if done.cause is Cause.OUTPUT or log.stat().st_size >= Command((), root).log_limit:
                raise TooMuch("the search finds too much; narrow it")
            if done.cause:
                raise ToolError(
                    f"the search took more than {self.seconds:g} s; narrow it, or simplify the pattern"
                )
            with log.open("rb") as stream:
                yield from (
                    json.loads(line)
                    for line in stream
                    if line.startswith((b"{", b"[")) and line.endswith(b"\n")
                )

    def _seen(self, path: Path) -> Path:
        """A path of the tree, or of the long results, as commands see it."""
        if path.is_relative_to(self.place.spill):
            return self.box.outputs / path.relative_to(self.place.spill)
        return self.box.root / path.relative_to(self.place.root)


def _is_text(stream: BinaryIO) -> bool:
    piece = stream.read(1_000_000)
    if piece.startswith(matching.MARKS):
        return True
    while piece and b"\0" not in piece and stream.tell() < matching.MOST_BYTES:
        piece = stream.read(1_000_000)
    return b"\0" not in piece


def _hit(data: Any) -> Hit:
    name = _bytes(data["path"]).decode(errors="surrogateescape").removeprefix("./")
    line = _bytes(data["lines"]).decode(errors="replace").split("\n")[0].removesuffix("\r")
    return Hit(name, data["line_number"], line[: matching.LONGEST])


def _bytes(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])
