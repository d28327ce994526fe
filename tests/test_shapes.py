"""Plain data into typed values, strictly: what does not fit is refused with its place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Literal

import pytest

from harness_executor.errors import ShapeError
from harness_executor.kernel.canonical import STRICT
from harness_executor.shapes import read, schema


class Colour(StrEnum):
    """A choice."""

    RED = "red"


@dataclass(frozen=True)
class Part:
    """A part."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    name: str


@dataclass(frozen=True)
class Whole:
    """A whole."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    count: int
    """How many."""
    ratio: float = 0.5
    flag: bool = False
    colour: Colour = Colour.RED
    parts: tuple[Part, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    state: Literal["on", "off"] = "on"
    either: int | str | None = None
    anything: Any = None


def test_reads_a_value_with_all_its_parts() -> None:
    """Lists become tuples, names become choices, objects become values."""
    data = {"count": 3, "ratio": 1, "colour": "red", "parts": [{"name": "a"}], "names": {"x": "y"}}
    assert read(Whole, data) == Whole(3, 1.0, False, Colour.RED, (Part("a"),), {"x": "y"})


@pytest.mark.parametrize(
    ("data", "where", "what"),
    [
        ({}, ("count",), "is missing"),
        ({"count": 1, "colour": "blue"}, ("colour",), "Input should be 'red'"),
        ({"count": 1, "colour": "RED"}, ("colour",), "Input should be 'red'"),
        ({"count": 1, "other": 1}, ("other",), "unknown key"),
        ({"count": 1, "parts": [{"name": "a"}, {}]}, ("parts", 1, "name"), "is missing"),
        ({"count": 1, "parts": [{"name": "a", "b": 1}]}, ("parts", 0, "b"), "unknown key"),
        ({"count": 1, "state": "ON"}, ("state",), "Input should be 'on' or 'off'"),
        ({"count": "1"}, ("count",), "valid integer"),
        ({"count": 1.0}, ("count",), "valid integer"),
        ({"count": True}, ("count",), "valid integer"),
        ({"count": None}, ("count",), "valid integer"),
        ({"count": 1, "flag": 1}, ("flag",), "valid boolean"),
        ({"count": 1, "flag": "true"}, ("flag",), "valid boolean"),
        ({"count": 1, "ratio": "0.5"}, ("ratio",), "valid number"),
        ({"count": 1, "parts": {"0": {"name": "a"}}}, ("parts",), "valid tuple|valid array"),
        ({"count": 1, "names": {"x": 1}}, ("names", "x"), "valid string"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(data: Any, where: Any, what: str) -> None:
    """Nothing is converted, and the refusal names the place and the problem."""
    with pytest.raises(ShapeError, match=what) as error:
        read(Whole, data)
    assert where in [place for place, _ in error.value.problems]


def test_every_problem_is_named() -> None:
    """One refusal lists all that does not fit."""
    with pytest.raises(ShapeError) as error:
        read(Whole, {"flag": "no", "parts": [3], "other": 1})
    assert [place[0] for place, _ in error.value.problems] == ["count", "flag", "parts", "other"]
    assert "count: is missing; " in error.value.message


@pytest.mark.parametrize("data", [None, [], "text", 3, [{"count": 1}], '{"count": 1}'])
def test_what_is_no_object_is_refused(data: Any) -> None:
    """A list, a text and JSON in a text are not unwrapped."""
    with pytest.raises(ShapeError):
        read(Whole, data)


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), 10**5000, "\ud800", _deep(5000), _deep(100_000)],
    ids=["nan", "infinity", "digits", "surrogate", "deep", "deeper"],
)
def test_what_is_not_plain_json_is_refused(value: Any) -> None:
    """Even where anything is allowed, a value must be one that JSON can carry."""
    with pytest.raises(ShapeError):
        read(Whole, {"count": 1, "anything": value})


def test_shows_a_model_what_fits() -> None:
    """The schema has the words under each field, the choices, and refuses the rest."""
    shown = schema(Whole)
    assert shown["properties"]["count"]["description"] == "How many."
    assert shown["additionalProperties"] is False
    assert shown["required"] == ["count"]
    assert shown["properties"]["state"]["enum"] == ["on", "off"]


def test_a_schema_can_be_shown_again_unchanged() -> None:
    """Whoever changes a schema changes a copy."""
    schema(Whole).clear()
    assert schema(Whole)["required"] == ["count"]
