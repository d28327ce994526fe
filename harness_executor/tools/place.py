"""Where a subagent works: its tree, and a folder beside it for what was too long to send."""

import os
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

MAX_RESULT = 12_000
"""Characters of a result that are sent to a model."""
MAX_KEPT = 16_000_000
"""Characters of a result that are kept at all."""
OUTPUT = "@output/"
"""How the folder of long results is called in a path."""

_KEPT = re.compile(r"@output/[0-9]+\.txt")


class ToolError(Exception):
    """The tool could not do it; the model is told why."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Place:
    """Where a subagent works."""

    root: Path
    """Its tree."""
    spill: Path
    """A folder outside the tree for results that are too long to send."""
    touched: list[str] = field(default_factory=list)
    """Files that were written, each once, in the order of their first writing."""

    @property
    def outputs(self) -> Spill:
        """Where long results are kept."""
        return Spill(self.spill)

    def find(self, name: str) -> Path:
        """A path of the tree, or a long result; anything else is refused."""
        return self.outputs.find(name) if name.startswith("@") else within(self.root, name)

    def touch(self, path: Path) -> None:
        """Note that a file of the tree was written."""
        name = path.relative_to(self.root).as_posix()
        if name not in self.touched:
            self.touched.append(name)


def clip(text: str, spill: Spill | None = None) -> str:
    """A text short enough to send, with its beginning and its end; the whole of it is kept."""
    if len(text) <= MAX_RESULT:
        return text
    half = MAX_RESULT // 2
    where = f"; all of it is in {spill.keep(text)}" if spill else ""
    left = len(text) - 2 * half
    return f"{text[:half]}\n… {left} characters left out{where} …\n{text[-half:]}"


def within(root: Path, name: str) -> Path:
    """A path of the tree; one that leads out of it is refused."""
    path = Path(name)
    if "\0" in name or name.startswith(("~", "file:")):
        raise ToolError(f"{name!r} is not a path of the project")
    if path.is_absolute():
        if not path.is_relative_to(root):
            raise ToolError(f"{name} is outside the project")
        path = path.relative_to(root)
    if ".." in path.parts or any(map(_is_git, path.parts)):
        raise ToolError(f"{name} is outside the project")
    if not _real(root / path).is_relative_to(root.resolve()):
        raise ToolError(f"{name} leads out of the project")
    return root / path


def _is_git(part: str) -> bool:
    return unicodedata.normalize("NFKC", part).casefold().rstrip(". ") in (".git", "git~1")


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:
        raise ToolError(f"{path.name} is a link to itself") from error
