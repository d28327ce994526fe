"""What a tool is: a name, a typed argument and a text that comes back."""

from collections.abc import Callable, Mapping
from typing import Any

from harness_executor.errors import ShapeError
from harness_executor.kernel.frozen import frozen
from harness_executor.shapes import read, schema
from harness_executor.tools.place import MAX_RESULT, Place, Spill, ToolError, clip, within

__all__ = ["MAX_RESULT", "Place", "Spill", "Tool", "ToolError", "clip", "small_schema", "within"]


@frozen
class Tool:
    """One tool."""

    name: str
    description: str
    argument: type
    act: Callable[[Any], str]
    reads: bool = False
    """Does it change nothing? Such calls of one turn may run at the same time."""
    spill: Spill | None = None
    """Where the whole of a result goes that is too long to send."""

    @property
    def schema(self) -> dict[str, Any]:
        """What a model is shown of the argument."""
        return small_schema(self.argument)

    def use(self, arguments: Mapping[str, Any]) -> str:
        """Do it; raises ToolError."""
        try:
            return clip(self.act(read(self.argument, dict(arguments))), self.spill)
        except ShapeError as error:
            raise ToolError(f"the arguments do not fit: {error.message}") from error
        except OSError as error:
            raise ToolError(f"{error.strerror or error}") from error
        except ValueError as error:
            raise ToolError(f"{error}") from error


def small_schema(kind: Any) -> dict[str, Any]:
    """The JSON schema of a type with nothing in it that a model does not need."""
    whole = schema(kind)
    shown: dict[str, Any] = _small(whole, whole.get("$defs", {}))
    shown.pop("description", None)
    return shown


def _small(part: Any, named: Mapping[str, Any]) -> Any:
    if isinstance(part, list):
        return [_small(item, named) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        target = {**named[part["$ref"].rpartition("/")[2]]}
        target.pop("description", None)
        return _small({**target, **{key: value for key, value in part.items() if key != "$ref"}}, named)
    return {
        key: {name: _small(inner, named) for name, inner in value.items()}
        if key == "properties"
        else _small(value, named)
        for key, value in part.items()
        if key not in ("title", "default", "$defs")
    }
