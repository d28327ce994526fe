"""Parts of an environment.json: a wrong one is named."""

from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import UsageError
from harness_executor.workspace.sections import names, section, texts, words

PLACE = Path("environment.json")


def test_a_section_of_another_shape_says_nothing() -> None:
    """Only an object is a section."""
    assert section({"a": {"b": 1}}, "a") == {"b": 1}
    assert section({"a": [1]}, "a") == {}


def test_values_become_texts() -> None:
    """Numbers are variables too."""
    assert texts({"WORKERS": 2}) == {"WORKERS": "2"}


def test_words_are_joined() -> None:
    """A command is a text or a list of words."""
    assert words(["a", 1], "x", PLACE) == "a 1"
    assert words(["a b", "$c", "--port={port}"], "x", PLACE) == "'a b' '$c' --port={port}"
    assert words("a b", "x", PLACE) == "a b"


@pytest.mark.parametrize("value", [3, True, {"a": 1}, [["a"]], [None], "a\0b"])
def test_what_is_no_command_is_named(value: Any) -> None:
    """The place of a wrong command is in the refusal."""
    with pytest.raises(UsageError, match=r"environment\.json: startup.x"):
        words(value, "startup.x", PLACE)


@pytest.mark.parametrize("value", ["a", [1], {"a": "b"}])
def test_what_is_no_list_is_named(value: Any) -> None:
    """The place of a wrong list is in the refusal."""
    with pytest.raises(UsageError, match=r"environment\.json: startup.x"):
        names(value, "startup.x", PLACE)
