"""Values drawn at run time."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel.values import NoSuchValue, bind, draw, fill

SHAPES = {
    "word": r"[a-z]{5,18}",
    "int": r"[1-9]\d{5}",
    "email": r"[a-z]{5,18}@example\.(com|org|net)",
    "uuid": r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
}


@pytest.mark.parametrize("kind", SHAPES)
@given(seed=st.text())
def test_draws_the_same_value_for_the_same_seed(kind: str, seed: str) -> None:
    """A drawn value has the shape of its kind and hangs on nothing but the seed."""
    assert re.fullmatch(SHAPES[kind], str(draw(kind, seed)))
    assert draw(kind, seed) == draw(kind, seed)


@pytest.mark.parametrize("kind", SHAPES)
def test_draws_another_value_for_another_seed(kind: str) -> None:
    """A thousand seeds hardly ever give one value twice."""
    assert len({draw(kind, str(seed)) for seed in range(1000)}) > 990


def test_words_have_no_length_of_their_own() -> None:
    """Drawn words are as long and as short as words are, so that a program cannot tell them by that."""
    assert {len(draw("word", str(seed))) for seed in range(2000)} >= set(range(5, 15))


def test_an_int_is_a_number() -> None:
    """A drawn number can stand in JSON as one."""
    assert isinstance(draw("int", ""), int)


def test_refuses_a_kind_it_cannot_draw() -> None:
    """The refusal lists what there is."""
    with pytest.raises(
        NoSuchValue, match=r"random\.colour is not known; there are random\.word, int, email, "
    ):
        draw("colour", "")


@pytest.mark.parametrize(
    ("value", "filled"),
    [
        ("{{ n }}", 3),
        ("{{n}}", 3),
        ("/items/{{ n }}", "/items/3"),
        ("{{ n }}{{ word }}", "3ab"),
        ("{{ list }}", [1, None]),
        ("a {{ list }} b", "a [1,null] b"),
        ("?done={{ yes }}&of={{ none }}", "?done=true&of=null"),
        ("{{ half }} %", "0.5 %"),
        ({"a": ["{{ n }}", 7, {"b": "{{ word }}!"}]}, {"a": [3, 7, {"b": "ab!"}]}),
        (("{{ n }}",), [3]),
        ("{ { n } }", "{ { n } }"),
        ("{{ 1n }}", "{{ 1n }}"),
        (True, True),
        (None, None),
        ({"{{ n }}": 1}, {"{{ n }}": 1}),
    ],
)
def test_fills_every_hole(value: Any, filled: Any) -> None:
    """A text that is one hole keeps the type; inside a text, a value is written as JSON writes it."""
    known = {"n": 3, "word": "ab", "list": [1, None], "yes": True, "none": None, "half": 0.5}
    assert fill(value, known) == filled


def test_refuses_a_hole_nothing_is_known_for() -> None:
    """A value that was never captured is named."""
    with pytest.raises(NoSuchValue, match="id was not captured by an earlier step"):
        fill({"path": ["/items/{{ id }}"]}, {})


def test_two_holes_of_one_text_are_drawn_apart() -> None:
    """Each place of a scenario gets a value of its own."""
    drawn = fill(["{{ random.word }} {{ random.word }}", "{{ random.word }}", {"a": "{{ random.word }}"}], {})
    words = [*drawn[0].split(), drawn[1], drawn[2]["a"]]
    assert len(set(words)) == 4


def test_binds_names_in_order() -> None:
    """A later name may use an earlier one, and every run with the same seed gets the same values."""
    let = {"title": "{{ random.word }}", "twice": "{{ title }}-{{ title }}", "count": "{{ random.int }}"}
    bound = bind(let, "seed")
    assert bound["twice"] == f"{bound['title']}-{bound['title']}"
    assert isinstance(bound["count"], int)
    assert bind(let, "seed") == bound
    assert bind(let, "another")["title"] != bound["title"]


def test_refuses_to_bind_a_name_before_its_turn() -> None:
    """What comes later is not known yet."""
    with pytest.raises(NoSuchValue, match="later was not captured"):
        bind({"first": "{{ later }}", "later": "x"}, "seed")
