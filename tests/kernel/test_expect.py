"""Does an answer meet an expectation?"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel.expect import Answer, Ended, captured, check, same
from harness_executor.kernel.expectation import Expect, FileCheck, JsonCheck, Op

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
BODY = {
    "id": 7,
    "name": "ada",
    "ratio": 0.5,
    "done": True,
    "tags": ["a", "b", 1],
    "owner": {"name": "bob", "age": 3},
    "items": [{"id": 1}, {"id": 2}],
    "none": None,
    "empty": [],
}


def answer(body: str = json.dumps(BODY), status: int = 200) -> Answer:
    """An answer with this body."""
    return Answer(status, (("Content-Type", "application/json; charset=utf-8"), ("X-Two", "1")), body)


def passes(expect: Expect, given_answer: Answer) -> bool:
    """Did everything that was compared fit?"""
    return all(assertion.passed for assertion in check(expect, given_answer))


@pytest.mark.parametrize(
    ("wanted", "status", "fits"),
    [
        (200, 200, True),
        (200, 201, False),
        ((200, 201), 201, True),
        ((200, 201), 404, False),
        ((), 200, False),
        ("4xx", 404, True),
        ("4XX", 499, True),
        ("4xx", 500, False),
        ("4xx", 40, False),
    ],
)
def test_compares_the_status(wanted: int | tuple[int, ...] | str, status: int, fits: bool) -> None:
    """A number, one of several, or a class."""
    (assertion,) = check(Expect(wanted), answer(status=status))
    assert assertion.type == "status_code"
    assert (assertion.expected, assertion.actual, assertion.passed) == (wanted, status, fits)


@pytest.mark.parametrize(
    ("headers", "fits"),
    [
        ({"content-type": "JSON"}, True),
        ({"CONTENT-TYPE": "charset=utf-8", "x-two": "1"}, True),
        ({"content-type": "html"}, False),
        ({"etag": ""}, False),
    ],
)
def test_compares_headers_whatever_their_case(headers: dict[str, str], fits: bool) -> None:
    """A header must be there and contain the text."""
    assert passes(Expect(200, headers=headers), answer()) is fits


@pytest.mark.parametrize(
    ("path", "op", "value", "fits"),
    [
        ("$.id", Op.EQUALS, 7, True),
        ("$.id", Op.EQUALS, 7.0, True),
        ("$.id", Op.EQUALS, "7", False),
        ("$.id", Op.EQUALS, 8, False),
        ("$.done", Op.EQUALS, True, True),
        ("$.done", Op.EQUALS, 1, False),
        ("$.none", Op.EQUALS, None, True),
        ("$.missing", Op.EQUALS, None, False),
        ("$.owner", Op.EQUALS, {"age": 3, "name": "bob"}, True),
        ("$.owner", Op.EQUALS, {"name": "bob"}, False),
        ("$.tags", Op.EQUALS, ["a", "b", 1], True),
        ("$.tags", Op.EQUALS, ["a", "b", True], False),
        ("$.tags", Op.EQUALS, ["a", "b"], False),
        ("$.items[*].id", Op.EQUALS, [1, 2], True),
        ("$.empty[*]", Op.EQUALS, [], True),
        ("$.id", Op.NOT_EQUALS, 8, True),
        ("$.id", Op.NOT_EQUALS, 7, False),
        ("$.missing", Op.NOT_EQUALS, 7, False),
        ("$.none", Op.EXISTS, None, True),
        ("$.missing", Op.EXISTS, None, False),
        ("$.items[*].id", Op.EXISTS, None, True),
        ("$.missing", Op.ABSENT, None, True),
        ("$.none", Op.ABSENT, None, False),
        ("$.items[*].secret", Op.ABSENT, None, True),
        ("$.name", Op.TYPE, "string", True),
        ("$.id", Op.TYPE, "integer", True),
        ("$.id", Op.TYPE, "number", True),
        ("$.ratio", Op.TYPE, "number", True),
        ("$.ratio", Op.TYPE, "integer", False),
        ("$.done", Op.TYPE, "boolean", True),
        ("$.done", Op.TYPE, "integer", False),
        ("$.id", Op.TYPE, "boolean", False),
        ("$.tags", Op.TYPE, "array", True),
        ("$.owner", Op.TYPE, "object", True),
        ("$.none", Op.TYPE, "null", True),
        ("$.none", Op.TYPE, "object", False),
        ("$.id", Op.TYPE, "whatever", False),
        ("$.tags", Op.LENGTH, 3, True),
        ("$.tags", Op.LENGTH, 2, False),
        ("$.name", Op.LENGTH, 3, True),
        ("$.owner", Op.LENGTH, 2, True),
        ("$.id", Op.LENGTH, 1, False),
        ("$.items[*]", Op.LENGTH, 2, True),
        ("$.name", Op.CONTAINS, "d", True),
        ("$.name", Op.CONTAINS, "x", False),
        ("$.tags", Op.CONTAINS, 1, True),
        ("$.tags", Op.CONTAINS, True, False),
        ("$.items", Op.CONTAINS, {"id": 2}, True),
        ("$.owner", Op.CONTAINS, {"name": "bob"}, True),
        ("$.owner", Op.CONTAINS, {"name": "eve"}, False),
        ("$.owner", Op.CONTAINS, {"pet": None}, False),
        ("$.owner", Op.CONTAINS, "age", True),
        ("$.owner", Op.CONTAINS, "pet", False),
        ("$.owner", Op.CONTAINS, ["age"], False),
        ("$.owner", Op.CONTAINS, 3, False),
        ("$.id", Op.CONTAINS, 7, False),
        ("$.name", Op.MATCHES, "^a.a$", True),
        ("$.name", Op.MATCHES, "^b", False),
        ("$.id", Op.MATCHES, "7", False),
        ("$.name", Op.MATCHES, "a(", False),
        ("$.id", Op.AT_LEAST, 7, True),
        ("$.id", Op.AT_LEAST, 7.5, False),
        ("$.id", Op.AT_MOST, 7, True),
        ("$.ratio", Op.AT_MOST, 0.4, False),
        ("$.name", Op.AT_LEAST, 1, False),
        ("$.done", Op.AT_LEAST, 0, False),
        ("$.id", Op.AT_MOST, True, False),
    ],
)
def test_compares_what_stands_at_a_path(path: str, op: Op, value: Any, fits: bool) -> None:
    """Every operation, where it fits and where it does not."""
    assertion = check(Expect(200, json=(JsonCheck(path, op, value),)), answer())[1]
    assert assertion.type == f"json_path {path} {op.value}"
    assert assertion.passed is fits


def test_says_what_it_found() -> None:
    """The comparison carries what was expected and what was there."""
    wanted = (JsonCheck("$.id", value=8), JsonCheck("$.pet", value=1), JsonCheck("$.items[*].id", value=[1]))
    found = check(Expect(200, json=wanted), answer())[1:]
    assert [(one.expected, one.actual) for one in found] == [(8, 7), (1, "nothing there"), ([1], [1, 2])]


@given(st.sampled_from(Op), VALUES, VALUES)
def test_no_operation_is_brought_down_by_what_it_meets(op: Op, actual: Any, value: Any) -> None:
    """Whatever a server answers and a scenario asks, the comparison comes out as yes or no."""
    wanted = Expect(200, json=(JsonCheck("$", op, value), JsonCheck("$[*]", op, value)))
    assert all(assertion.passed in (True, False) for assertion in check(wanted, answer(json.dumps(actual))))


@pytest.mark.parametrize(
    "body",
    ["", "<html>", '{"id": 7, "id": 8}', "NaN", '{"id": Infinity}', "[" * 100_000, "9" * 5000, "{}{}"],
    ids=["empty", "html", "twice", "nan", "infinity", "deep", "digits", "glued"],
)
@pytest.mark.parametrize("op", [Op.EXISTS, Op.ABSENT, Op.EQUALS])
def test_a_body_that_is_not_json_in_one_way_meets_nothing(body: str, op: Op) -> None:
    """Not even the absence of a key can be shown by what is no JSON, or could be read in two ways."""
    assertion = check(Expect(200, json=(JsonCheck("$.id", op, 7),)), answer(body))[1]
    assert not assertion.passed
    assert str(assertion.actual).startswith("not JSON: ")


def test_compares_the_text_of_the_body() -> None:
    """Texts that must be there, texts that must not, and patterns."""
    body = "Hello, World"
    good = Expect(200, body_contains=("Hello",), body_not_contains=("error",), body_matches=("W.r", "^H"))
    assert passes(good, answer(body))
    for bad in (
        Expect(200, body_contains=("hello",)),
        Expect(200, body_not_contains=("World",)),
        Expect(200, body_matches=("^W",)),
        Expect(200, body_matches=("(",)),
        Expect(200, body_matches=("a{99999999999999999999}",)),
    ):
        assert not passes(bad, answer(body))


def test_shows_the_beginning_of_a_long_body() -> None:
    """A refusal does not print a megabyte."""
    (_, assertion) = check(Expect(200, body_contains=("y",)), answer("x" * 5000))
    assert assertion.actual == "x" * 300 + "… (5000 characters)"


def test_captures_a_value_of_the_answer() -> None:
    """One value as it is, and a list where the path can stand for many."""
    assert captured("$.owner.name", answer()) == "bob"
    assert captured("$.none", answer()) is None
    assert captured("$.items[*].id", answer()) == [1, 2]


@pytest.mark.parametrize(
    ("path", "body"), [("$.pet", json.dumps(BODY)), ("$.id", "<html>"), ("$.empty[*]", "{}")]
)
def test_refuses_to_capture_what_is_not_there(path: str, body: str) -> None:
    """A scenario cannot go on with a value it never got."""
    with pytest.raises(LookupError, match="the answer has nothing at"):
        captured(path, answer(body))


@given(VALUES, VALUES)
def test_sameness_is_the_same_from_both_sides(left: Any, right: Any) -> None:
    """Equal as JSON: every value equals itself, and the order of comparing does not matter."""
    assert same(left, left)
    assert same(left, right) is same(right, left)
    assert left == right or not same(left, right)


def test_true_is_not_one() -> None:
    """Equal as JSON, at every depth: 1 equals 1.0, and neither equals true."""
    assert same({"a": (1, 2.0)}, {"a": [1.0, 2]})
    assert not same(True, 1)
    assert not same([0], [False])
    assert not same({"a": {"b": 1}}, {"a": {"b": True}})


@pytest.mark.parametrize(
    ("expect", "passes"),
    [
        (Expect(), [True]),
        (Expect(exit_code=(1, 2)), [False]),
        (Expect(exit_code="nonzero"), [False]),
        (Expect(stdout_contains=("all",), stdout_not_contains=("err",)), [True, True, True]),
        (Expect(stdout_matches=("^a.l",), stderr_contains=("warn",)), [True, True, True]),
        (Expect(stderr_not_contains=("warn",)), [True, False]),
        (Expect(files={"out.txt": FileCheck(contains=("made",), equals="made")}), [True, True, True, True]),
        (Expect(files={"gone.txt": FileCheck()}), [True, False]),
        (Expect(files={"gone.txt": FileCheck(exists=False)}), [True, True]),
        (Expect(files={"out.txt": FileCheck(exists=False)}), [True, False]),
    ],
)
def test_what_a_program_did_is_compared(expect: Expect, passes: list[bool]) -> None:
    """Exit code, both streams and files are compared; with nothing said, the code must be 0."""
    ended = Ended(0, (), "all well", stderr="warning", files={"out.txt": "made"})
    assert [assertion.passed for assertion in check(expect, ended)] == passes


def test_without_a_status_a_request_must_have_worked() -> None:
    """A step that expects nothing in particular passes unless the server says 4xx or 5xx."""
    assert [
        [a.passed for a in check(Expect(), Answer(status, (), ""))] for status in (200, 302, 404, 500)
    ] == [
        [True],
        [True],
        [False],
        [False],
    ]
