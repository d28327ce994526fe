"""Patterns of scenarios, tried on texts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel import patterns
from harness_executor.kernel.patterns import matches, problem

PARTS = [
    "a",
    "b",
    ".",
    r"\d",
    r"\w+",
    "[ab]",
    "[^a]",
    "(a|b)",
    "(?:ab)*",
    "a{2}",
    "^",
    "$",
    r"\b",
    "a?",
    r"\{id\}",
]


@given(st.lists(st.sampled_from(PARTS), max_size=6).map("".join), st.text("ab1 {}id\n", max_size=12))
def test_a_pattern_means_what_it_means_in_python(pattern: str, text: str) -> None:
    """Whatever searches, people know the language of `re`."""
    assert matches(pattern, text) is (re.search(pattern, text) is not None)


@pytest.mark.parametrize("pattern", ["(", "a{99999999999999999999}", "(?P<n>", "(?<=a+)b", r"\p{L}", "*"])
def test_what_python_cannot_read_is_named_and_holds_nowhere(pattern: str) -> None:
    """Syntax that only another library knows is not known."""
    assert problem(pattern)
    assert not matches(pattern, "a{99999999999999999999}b")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^(a+)+$", "a" * 50 + "!"),
        (r"^(\w+\s?)+$", "word " * 40 + "!"),
        (r"(x+x+)+y", "x" * 2000),
        (r"\s+$", " " * 400_000 + "x"),
        (r"^(a|aa)+$", "a" * 80 + "!"),
        (r"^(.*,){25}P", "1," * 40 + "x"),
    ],
)
def test_a_text_that_is_made_to_be_tried_for_ever_is_given_up(
    pattern: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server cannot hold a verification with what it answers."""
    monkeypatch.setattr(patterns, "_SECONDS", 0.5)
    assert not matches(pattern, text)
