"""JSON with one reading only."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel.canonical import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_TEXT,
    Ambiguous,
    canonical,
    digest,
    parse,
)

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


def _depth(value: Any) -> int:
    match value:
        case dict():
            return 1 + max(map(_depth, value.values()), default=0)
        case list():
            return 1 + max(map(_depth, value), default=0)
    return 0


@given(VALUES)
def test_reads_back_what_it_wrote(value: Any) -> None:
    """Every JSON value survives its canonical text, and has only one."""
    text = canonical(value)
    assert parse(text) == value
    assert canonical(parse(text)) == text


@given(VALUES)
def test_writes_ascii_without_spaces(value: Any) -> None:
    """The canonical text is ASCII, and no byte of it is only there to please."""
    text = canonical(value)
    assert text.isascii()
    assert text == json.dumps(json.loads(text), separators=(",", ":"))


@given(st.dictionaries(st.text(), SCALARS), st.randoms())
def test_the_order_of_keys_does_not_matter(value: dict[str, Any], chance: Any) -> None:
    """An object has one text and one digest, in whatever order it was made."""
    pairs = list(value.items())
    chance.shuffle(pairs)
    assert canonical(dict(pairs)) == canonical(value)
    assert digest(dict(pairs)) == digest(value)


def test_the_digest_is_the_sha256_of_the_text() -> None:
    """Anybody can make the digest of a value again."""
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), {"a": [float("nan")]}])
def test_writes_no_number_that_json_lacks(value: Any) -> None:
    """NaN and infinity have no text."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical(value)


@given(VALUES, st.text(), st.booleans())
def test_refuses_a_key_that_appears_twice_anywhere(value: Any, key: str, escaped: bool) -> None:
    """However deep it hides, and however it is spelled, a second key of one name is refused."""
    name = json.dumps(key)
    again = '"' + "".join(f"\\u{ord(char):04x}" for char in key) + '"' if escaped and key.isascii() else name
    twice = f"{{{name}:1,{again}:1}}"
    text = canonical({"around": [value, "HERE", value]}).replace('"HERE"', twice, 1)
    with pytest.raises(Ambiguous, match="appears twice"):
        parse(text)


def test_names_the_key_that_appears_twice() -> None:
    """The refusal says which key."""
    with pytest.raises(Ambiguous, match="key 'passed' appears twice"):
        parse('{"name": "a", "passed": false, "passed": true}')


def test_finds_the_second_key_among_very_many() -> None:
    """A hundred thousand keys do not make the refusal slow."""
    keys = ",".join(f'"{number}":0' for number in range(100_000))
    with pytest.raises(Ambiguous, match="key '99999' appears twice"):
        parse(f'{{{keys},"99999":1}}')


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", '{"a": [NaN]}', "1e999", "-1e999", "1E+400"]
)
def test_refuses_numbers_that_are_none(text: str) -> None:
    """NaN, infinity and what overflows into it are not JSON."""
    with pytest.raises(Ambiguous, match=r"is not JSON|is too large"):
        parse(text)


def test_refuses_numbers_of_very_many_digits() -> None:
    """A number may have as many digits as the limit, and not one more."""
    assert parse("1" * MAX_DIGITS) == int("1" * MAX_DIGITS)
    with pytest.raises(Ambiguous, match=f"a number of {MAX_DIGITS + 1} digits"):
        parse("1" * (MAX_DIGITS + 1))


def test_refuses_texts_that_are_too_long() -> None:
    """The length is looked at before anything else."""
    with pytest.raises(Ambiguous, match=f"{MAX_TEXT + 1} characters of JSON; at most {MAX_TEXT} are read"):
        parse("x" * (MAX_TEXT + 1))


@given(
    st.integers(MAX_DEPTH - 3, MAX_DEPTH + 3),
    st.text(alphabet='[]{}"\\ax', max_size=200),
    st.lists(st.booleans(), min_size=MAX_DEPTH + 3, max_size=MAX_DEPTH + 3),
)
def test_counts_levels_and_not_brackets_in_strings(levels: int, noise: str, in_lists: list[bool]) -> None:
    """Nesting is what counts; quotes, backslashes and brackets inside strings do not."""
    value: Any = noise
    for in_list in in_lists[:levels]:
        value = [noise, value, []] if in_list else {noise: value, f"{noise}2": {}}
    text = canonical(value)
    if _depth(value) <= MAX_DEPTH:
        assert parse(text) == value
    else:
        with pytest.raises(Ambiguous, match=f"nested deeper than {MAX_DEPTH} levels"):
            parse(text)


def test_reads_many_brackets_that_are_not_deep() -> None:
    """A long flat list is fine."""
    assert parse("[" + ",".join(["[]"] * 1000) + "]") == [[]] * 1000


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 101 + '"' + '\\"' * 100_000])
def test_is_not_brought_down_by_hostile_nesting(text: str) -> None:
    """A text that only nests is refused in words, not by a crash."""
    with pytest.raises(Ambiguous, match="nested deeper"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "line 1 column 1"),
        ("{", "line 1 column 2"),
        ('{"a": 1,\n "b": }', "line 2 column 7"),
        ("[1,]", "line 1 column 4|line 1 column 3"),
        ("{'a': 1}", "line 1 column 2"),
        ("01", "line 1 column 2"),
        ('{"a":1}{"a":1}', "line 1 column 8"),
        ("\ufeff{}", "line 1 column 1"),
        ('"\x00"', "line 1 column 2"),
        ("nul", "line 1 column 1"),
    ],
)
def test_says_where_a_text_stops_being_json(text: str, where: str) -> None:
    """What is not JSON, or is followed by more, is refused with its place."""
    with pytest.raises(Ambiguous, match=where):
        parse(text)


def test_keeps_half_a_surrogate_pair() -> None:
    """A broken emoji of a model does not get lost on the way."""
    assert parse(canonical("\ud83d")) == "\ud83d"
