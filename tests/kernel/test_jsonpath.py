"""Where in an answer to look."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel.jsonpath import BadPath, find, is_many, parse, quoted

ANSWER = {
    "items": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"name": "c"}],
    "a b": {"c-d": [[10, 20], [30]]},
    "it's": 'say "x"',
    "0": "zero",
    "none": None,
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", [ANSWER]),
        ("$.items[0].id", [1]),
        ("$.items[-1].name", ["c"]),
        ("$.items[*].id", [1, 2]),
        ("$.items.*.name", ["a", "b", "c"]),
        ("$['a b'].c-d[0][1]", [20]),
        ('$["it\'s"]', ['say "x"']),
        ("$['a b'].*[*]", [[10, 20], [30]]),
        ("$['a b']['c-d'][*][*]", [10, 20, 30]),
        ("$['0']", ["zero"]),
        ("$.none", [None]),
        ("$.none.more", []),
        ("$.items[3]", []),
        ("$.items[-4]", []),
        ("$.items.id", []),
        ("$[0]", []),
        ("$.missing", []),
        ("$['a b'][0]", []),
        ("$.none[*]", []),
    ],
)
def test_finds_what_stands_at_a_path(path: str, found: list[Any]) -> None:
    """Keys, indexes from both ends, and every element; nothing there is an empty list."""
    assert find(path, ANSWER) == found


@pytest.mark.parametrize(
    "path",
    [
        "",
        "items",
        "$items",
        "$.",
        "$..a",
        "$[",
        "$[a]",
        "$[1",
        "$['a]",
        "$.a b",
        "$[1.5]",
        "$[?(@.a)]",
        "$.0a",
    ],
)
def test_refuses_what_is_no_path(path: str) -> None:
    """A path that cannot be read is named."""
    with pytest.raises(BadPath, match=r"cannot read|starts with \$"):
        parse(path)


def test_refuses_an_index_of_very_many_digits() -> None:
    """An index nobody can mean is a bad path, not a crash."""
    with pytest.raises(BadPath, match="cannot read"):
        parse(f"$[{'1' * 5000}]")


@pytest.mark.parametrize(
    ("path", "many"), [("$", False), ("$.a[0]", False), ("$.a[*]", True), ("$.*.b", True)]
)
def test_knows_whether_a_path_can_stand_for_many(path: str, many: bool) -> None:
    """Only a star makes many."""
    assert is_many(path) is many


@given(st.lists(st.integers(0, 3) | st.text(max_size=8), max_size=6))
def test_finds_the_place_a_path_was_made_for(parts: list[int | str]) -> None:
    """A value wrapped in any keys and indexes is found again by the path through them."""
    value: Any = "here"
    for part in reversed(parts):
        value = [0] * part + [value] if isinstance(part, int) else {part: value}
    path = "$" + "".join(f"[{part}]" if isinstance(part, int) else f"['{quoted(part)}']" for part in parts)
    assert parse(path) == tuple(parts)
    assert find(path, value) == ["here"]
