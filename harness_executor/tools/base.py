"""What a tool is: a name, a typed argument and a text that comes back."""

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness_executor.errors import ShapeError
from harness_executor.shapes import read, schema

MAX_RESULT = 30_000


class ToolError(Exception):
    """The tool could not do it; the model is told why."""


@dataclass(frozen=True)
class Tool:
    """One tool."""

    name: str
    description: str
    argument: type
    act: Callable[[Any], str]

    @property
    def schema(self) -> dict[str, Any]:
        """What a model is shown of the argument."""
        shown = schema(self.argument)
        shown.pop("title", None)
        shown.pop("description", None)
        return shown

    def use(self, arguments: Mapping[str, Any]) -> str:
        """Do it; raises ToolError."""
        try:
            return clip(self.act(read(self.argument, dict(arguments))))
        except ShapeError as error:
            raise ToolError(f"the arguments do not fit: {error.message}") from error
        except OSError as error:
            raise ToolError(f"{error.strerror or error}") from error
        except ValueError as error:
            raise ToolError(f"{error}") from error


def clip(text: str) -> str:
    """A text short enough to send, with its beginning and its end."""
    if len(text) <= MAX_RESULT:
        return text
    half = MAX_RESULT // 2
    return f"{text[:half]}\n… {len(text) - MAX_RESULT} characters left out …\n{text[-half:]}"


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
