"""JSON with one thing wrong."""

from typing import Any

from harness_executor.evidence.breaking_json import Place, broken_values


def made(value: Any, kind: Place) -> list[Any]:
    """The broken values of a class."""
    return [broken for name, broken in broken_values(value) if name is kind]


def test_lists_are_emptied_cut_and_doubled() -> None:
    """An inner list also becomes empty; the whole one becomes so as an empty body."""
    assert made([1, 2], Place.LIST) == [[1], [1, 2, 2]]
    assert made({"a": [1]}, Place.LIST) == [{"a": []}, {"a": [1, 1]}]


def test_values_of_two_keys_are_swapped() -> None:
    """Neighbours whose values differ; equal ones would not be broken."""
    swapped = made({"a": 1, "b": 2, "c": 2, "d": {"x": 0}}, Place.SWAP)
    assert swapped == [{"a": 2, "b": 1, "c": 2, "d": {"x": 0}}]


def test_a_value_becomes_one_of_another_type() -> None:
    """A number becomes its text, a text a number, nothing an object."""
    assert made([1, "1", None, True], Place.TYPE) == [
        ["1", "1", None, True],
        [1, 0, None, True],
        [1, "1", {}, True],
        [1, "1", None, "True"],
    ]


def test_the_value_itself_is_left_as_it_was() -> None:
    """Breaking copies what it changes."""
    value = {"a": [{"b": 1}], "c": 2}
    for _ in broken_values(value):
        assert value == {"a": [{"b": 1}], "c": 2}


def test_many_places_are_left_out() -> None:
    """A large value is broken in some places only."""
    assert len(list(broken_values(list(range(5000)), most=8))) < 30
