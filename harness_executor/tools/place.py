"""Where a subagent works: its tree, what may be read beside it, and a folder for long results."""

import errno
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path, PurePosixPath

from harness_executor.kernel.frozen import frozen
from harness_executor.tools.beneath import Root, hold

MAX_RESULT = 12_000
"""Characters of a result that are sent to a model."""
MAX_KEPT = 16_000_000
"""Characters of a result that are kept at all."""
OUTPUT = "@output/"
"""How the folder of long results is called in a path."""

_KEPT = re.compile(r"@output/[0-9]+\.txt")


class ToolError(Exception):
    """The tool could not do it; the model is told why."""


@frozen
class Spill:
    """A folder for whole results, each under a number."""

    folder: Path

    def keep(self, text: str) -> str:
        """Write a text down; gives the name it can be read by."""
        path = self.new()
        path.write_text(text[:MAX_KEPT], encoding="utf-8", errors="replace", newline="")
        return OUTPUT + path.name

    def adopt(self, path: Path) -> str:
        """Take a file over; gives the name it can be read by."""
        target = self.new()
        path.replace(target)
        return OUTPUT + target.name

    def find(self, name: str) -> Path:
        """The file behind a name; any other name is refused."""
        if not _KEPT.fullmatch(name):
            raise ToolError(f"{name} is not an output; they are called {OUTPUT}1.txt and so on")
        return self.folder / name.removeprefix(OUTPUT)

    def new(self) -> Path:
        """An empty file under the next number."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = sum(1 for _ in self.folder.iterdir()) + 1
        while True:
            path = self.folder / f"{number}.txt"
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            except FileExistsError:
                number += 1
            else:
                return path


@frozen
class Spot:
    """A path that may be looked at: a folder that is held, and a name below it."""

    root: Root
    inner: str
    base: Path
    """Where commands find the folder that is held."""
    prefix: str = ""
    """What a model writes before the inner name."""

    @property
    def name(self) -> str:
        """The last part, as a model wrote it."""
        return PurePosixPath(self.prefix, self.inner).name

    @contextmanager
    def opened(self) -> Iterator[int]:
        """A descriptor of what is there; raises ToolError."""
        try:
            found = self.root.read(self.inner)
        except OSError as error:
            raise self._refusal(error) from error
        try:
            yield found
        finally:
            os.close(found)

    def stat(self) -> os.stat_result | None:
        """What is there, if anything is; raises ToolError when it leads out."""
        try:
            return self.root.stat(self.inner)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: OSError) -> Exception:
        if error.errno == errno.EXDEV:
            return ToolError(f"{self.prefix}{self.inner} leads out of the project")
        if error.errno == errno.ELOOP:
            return ToolError(f"{self.name} is a link to itself")
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENXIO, errno.ENODEV):
            return ToolError(f"there is no file {self.name}")
        return error


@frozen
class Place:
    """Where a subagent works."""

    root: Path
    """Its tree."""
    spill: Path
    """A folder outside the tree for results that are too long to send."""
    touched: list[str] = field(default_factory=list)
    """Files that were written, each once, in the order of their first writing."""
    shown: Path | None = None
    """Where its commands see the tree, if that is elsewhere."""
    beside: Mapping[str, Path] = field(default_factory=dict)
    """Folders that stand for names at the top of the tree and can only be read; none of them is a link."""
    tree: Root = field(init=False, repr=False, compare=False)
    """The tree, held from the beginning."""
    held: Mapping[str, Root] = field(init=False, repr=False, compare=False)
    """The folders beside it that are there, held as well."""

    def __post_init__(self) -> None:
        held: dict[str, Root] = {}
        for name, path in self.beside.items():
            with suppress(OSError):
                held[name] = hold(path, follow=False)
        object.__setattr__(self, "tree", hold(self.root))
        object.__setattr__(self, "held", held)

    @property
    def outputs(self) -> Spill:
        """Where long results are kept."""
        return Spill(self.spill)

    def find(self, name: str) -> Spot:
        """A path to look at: of the tree, beside it, or a long result; anything else is refused."""
        if not name.startswith("@"):
            return self.at(self._inner(name))
        path = self.outputs.find(name)
        try:
            return Spot(hold(self.spill), path.name, self.spill, OUTPUT)
        except FileNotFoundError as error:
            raise ToolError(f"there is no file {path.name}") from error

    def at(self, inner: str) -> Spot:
        """A path to look at, by its name in the tree."""
        first, _, rest = inner.partition("/")
        if first in self.held:
            return Spot(self.held[first], rest or ".", self.root / first, f"{first}/")
        return Spot(self.tree, inner, self.root)

    def own(self, name: str) -> str:
        """The name in the tree of a path that may be written; anything else is refused."""
        inner = self._inner(name)
        if inner == ".":
            raise ToolError(f"{name} is not a file")
        if inner.partition("/")[0] in self.beside:
            raise ToolError(f"{name} can only be read")
        return inner

    def touch(self, inner: str) -> None:
        """Note that a file of the tree was written."""
        if inner not in self.touched:
            self.touched.append(inner)

    def _inner(self, name: str) -> str:
        return within(name, self.root, *filter(None, [self.shown]))


def clip(text: str, spill: Spill | None = None) -> str:
    """A text short enough to send, with its beginning and its end; the whole of it is kept."""
    if len(text) <= MAX_RESULT:
        return text
    half = MAX_RESULT // 2
    where = f"; all of it is in {spill.keep(text)}" if spill else ""
    left = len(text) - 2 * half
    return f"{text[:half]}\n… {left} characters left out{where} …\n{text[-half:]}"


def within(name: str, *roots: Path) -> str:
    """The name of a path below one of these folders, by its words alone; one that is elsewhere is refused."""
    if "\0" in name or name.startswith("~") or name.casefold().startswith("file:"):
        raise ToolError(f"{name!r} is not a path of the project")
    path = PurePosixPath(name)
    if path.is_absolute():
        above = next((root for root in roots if path.is_relative_to(root)), None)
        if above is None:
            raise ToolError(f"{name} is outside the project")
        path = path.relative_to(above)
    if ".." in path.parts or any(map(_is_git, path.parts)):
        raise ToolError(f"{name} is outside the project")
    return path.as_posix()


def _is_git(part: str) -> bool:
    """Would some file system take this name for .git?"""
    plain = unicodedata.normalize("NFKC", part).casefold().partition(":")[0]
    seen = "".join(letter for letter in plain if unicodedata.category(letter) != "Cf")
    return seen.rstrip(". ") in (".git", "git~1")
