"""Plain data into typed values, strictly: what does not fit is refused with its place."""

from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from harness_executor.errors import ShapeError
from harness_executor.kernel.canonical import canonical

T = TypeVar("T")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read(kind: type[T], data: Any) -> T:
    """A value of a type from JSON data; raises ShapeError with every place that does not fit."""
    try:
        value: T = _adapter(cast(Any, kind)).validate_json(canonical(data), strict=True)
    except ValidationError as error:
        problems = tuple(
            (tuple(problem["loc"]), _plainly(problem)) for problem in error.errors(include_url=False)
        )
        raise ShapeError(problems) from error
    except (ValueError, RecursionError) as error:
        raise ShapeError((((), f"is not plain JSON: {error}"),)) from error
    return value


def schema(kind: Any) -> dict[str, Any]:
    """The JSON schema of a type, as shown to a model."""
    from harness_executor.wording import Worded  # noqa: PLC0415 - only who talks to a model needs it

    return _adapter(kind).json_schema(schema_generator=Worded)


def _plainly(problem: Any) -> str:
    match problem["type"]:
        case "extra_forbidden" | "unexpected_keyword_argument":
            return "unknown key"
        case "missing":
            return "is missing"
    return str(problem["msg"])
