"""The tool a result is handed over with, and its schema as strict services demand it."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from harness_executor.providers.base import ToolSpec
from harness_executor.subagents.jobs import Answering
from harness_executor.subagents.replies import TYPES
from harness_executor.tools.base import small_schema

SUBMIT = "submit_result"

_SCALARS = {"string", "integer", "number", "boolean", "null"}


def can_be_strict(schema: Mapping[str, Any]) -> bool:
    """Can a service hold a model to it? Not where anything goes, in an object or in its place."""
    if "anyOf" in schema:
        return all(map(can_be_strict, schema["anyOf"]))
    match schema.get("type"):
        case "object":
            is_closed = schema.get("additionalProperties", False) is False
            return (
                is_closed
                and "properties" in schema
                and all(map(can_be_strict, schema["properties"].values()))
            )
        case "array":
            return isinstance(schema.get("items"), Mapping) and can_be_strict(schema["items"])
    return schema.get("type") in _SCALARS or "enum" in schema or "const" in schema


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema with every object closed and every key required."""
    made = dict(schema)
    if "anyOf" in made:
        made["anyOf"] = [strict_schema(part) for part in made["anyOf"]]
    if "items" in made:
        made["items"] = strict_schema(made["items"])
    if "properties" in made:
        made["properties"] = {name: strict_schema(part) for name, part in made["properties"].items()}
        made["required"] = list(made["properties"])
        made["additionalProperties"] = False
    return made


@cache
def submit_tool(answering: Answering) -> ToolSpec:
    """The tool that ends a job, held to its schema where that is possible."""
    shown = small_schema(TYPES[answering])
    strict = can_be_strict(shown)
    words = "Hand over your result and end."
    return ToolSpec(SUBMIT, words, strict_schema(shown) if strict else shown, strict)


def result_schema(answering: Answering) -> Mapping[str, Any] | None:
    """What an answer in plain JSON is held to, where a service can do that."""
    tool = submit_tool(answering)
    return tool.schema if tool.strict else None
