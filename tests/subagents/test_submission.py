"""The tool a result is handed over with, and its schema as strict services demand it."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from harness_executor.subagents.jobs import Answering
from harness_executor.subagents.replies import from_arguments
from harness_executor.subagents.submission import (
    SUBMIT,
    can_be_strict,
    result_schema,
    strict_schema,
    submit_tool,
)

TEXT = {"type": "string"}
CLOSED = {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False}


def _objects(node: Any) -> Iterator[Mapping[str, Any]]:
    """Every object of a schema."""
    if isinstance(node, Mapping):
        if "properties" in node:
            yield node
        for part in node.values():
            yield from _objects(part)
    elif isinstance(node, list):
        for part in node:
            yield from _objects(part)


@pytest.mark.parametrize(
    "schema",
    [
        TEXT,
        CLOSED,
        {"enum": ["a", 1]},
        {"const": "a"},
        {"type": "array", "items": CLOSED},
        {"anyOf": [TEXT, {"type": "null"}, CLOSED]},
        {"type": "object", "properties": {}},
    ],
    ids=str,
)
def test_a_schema_without_holes_can_be_strict(schema: Mapping[str, Any]) -> None:
    """Scalars, choices, lists of one kind and closed objects."""
    assert can_be_strict(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"description": "anything"},
        {"type": "object"},
        {"type": "object", "additionalProperties": TEXT},
        {**CLOSED, "additionalProperties": True},
        {**CLOSED, "additionalProperties": TEXT},
        {"type": "array"},
        {"type": "array", "items": {}},
        {"anyOf": [TEXT, {}]},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}},
    ],
    ids=str,
)
def test_a_schema_where_anything_goes_cannot(schema: Mapping[str, Any]) -> None:
    """A free object or a value of any kind, however deep, is not for strict services."""
    assert not can_be_strict(schema)


@pytest.mark.parametrize(
    ("answering", "strict"),
    [
        (Answering.PLAN, True),
        (Answering.WORK, True),
        (Answering.REVIEW, True),
        (Answering.SCENARIOS, False),
        (Answering.RULINGS, False),
        (Answering.ADDITIONS, False),
    ],
)
def test_results_are_strict_where_they_can_be(answering: Answering, strict: bool) -> None:
    """Scenarios hold headers and values of any kind; every other result is held to its schema."""
    tool = submit_tool(answering)
    assert (tool.name, tool.strict) == (SUBMIT, strict)
    assert (result_schema(answering) is not None) is strict


@pytest.mark.parametrize("answering", [Answering.PLAN, Answering.WORK, Answering.REVIEW])
def test_a_strict_schema_closes_every_object_and_requires_every_key(answering: Answering) -> None:
    """Strict services refuse a schema with an open object, an optional key or a default."""
    schema = submit_tool(answering).schema
    found = list(_objects(schema))
    assert found
    for node in found:
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])
    assert "default" not in str(schema)
    assert "$ref" not in str(schema)


def test_making_a_schema_strict_leaves_the_given_one_alone() -> None:
    """The schema that is given can be used again."""
    given = {"type": "object", "properties": {"a": {"anyOf": [{"type": "object", "properties": {}}]}}}
    strict_schema(given)
    assert given == {"type": "object", "properties": {"a": {"anyOf": [{"type": "object", "properties": {}}]}}}


def test_what_a_strict_service_sends_is_accepted() -> None:
    """A result with every key given, as strict services send it, is read by our own reader."""
    whole = {
        "status": "success",
        "summary": "s",
        "files_changed": [],
        "files_created": [],
        "validation_result": {"passed": True, "command": "", "output_summary": ""},
        "validation_output": "",
        "lessons": [],
        "blockers": [],
        "disputes": [{"expectation": "a header", "reason": "nobody said so"}],
    }
    assert set(whole) == set(submit_tool(Answering.WORK).schema["required"])
    assert from_arguments(Answering.WORK, whole)
