"""Facts as JSON and back."""

import dataclasses
from collections.abc import Mapping
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_executor.kernel.acts import Call
from harness_executor.kernel.budget import Caps
from harness_executor.kernel.canonical import canonical, parse
from harness_executor.kernel.events import Fact, Mode, ProjectRead, StepName, StepStarted, TaskOpened
from harness_executor.kernel.expect import Answer
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.report import Evidence, Exchange
from harness_executor.kernel.scenario import Scenario
from harness_executor.store.codec import UnknownFact, build, decode, encode, plain
from tests.kernel.examples import EVIDENCE, EXAMPLES

FACTS = Fact.__subclasses__()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
TEXTS = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)
st.register_type_strategy(Scenario, st.builds(Scenario, steps=st.just(()), let=TEXTS))

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def strategy(kind: type[Fact]) -> st.SearchStrategy[Fact]:
    """Any fact of a kind."""
    hints = get_type_hints(kind)
    fields = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    texts = {name: TEXTS for name, hint in fields.items() if hint == Mapping[str, str]}
    evidence = {name: st.just(EVIDENCE) for name, hint in fields.items() if hint is Evidence}
    tables = {
        name: st.tuples(TEXTS) for name, hint in fields.items() if hint == tuple[Mapping[str, str], ...]
    }
    floats = {name: FLOATS for name, hint in fields.items() if hint is float}
    numbers = st.none() | st.integers()
    caps = {
        name: st.builds(Caps, numbers, numbers, numbers, st.none() | FLOATS)
        for name, hint in fields.items()
        if hint is Caps
    }
    special = {**texts, **evidence, **tables, **floats, **caps}
    rest = {name: st.from_type(hint) for name, hint in fields.items() if name not in special}
    return st.builds(kind, **special, **rest)


def through_the_log(fact: Fact) -> Fact:
    """A fact after it was written and read."""
    name, data = encode(fact)
    return decode(name, parse(canonical(data)))


def test_every_kind_of_fact_has_an_example() -> None:
    """A new fact fails here until it is shown to survive."""
    assert {type(example) for example in EXAMPLES} == set(FACTS)


@pytest.mark.parametrize("fact", EXAMPLES, ids=lambda fact: type(fact).__name__)
def test_every_fact_survives_the_log(fact: Fact) -> None:
    """What is read is what was written, with every field set."""
    again = through_the_log(fact)
    assert again == fact
    assert type(again) is type(fact)
    assert canonical(plain(again)) == canonical(plain(fact))


@pytest.mark.parametrize("fact", EXAMPLES, ids=lambda fact: type(fact).__name__)
def test_an_example_sets_every_field(fact: Fact) -> None:
    """No field hides behind its default, so that a new one is noticed."""
    for field in dataclasses.fields(fact):
        if field.default is not dataclasses.MISSING:
            assert getattr(fact, field.name) != field.default, field.name


@pytest.mark.parametrize("kind", FACTS, ids=lambda kind: kind.__name__)
def test_any_fact_of_a_kind_survives_the_log(kind: type[Fact]) -> None:
    """Empty texts, odd characters and large numbers included."""

    @settings(max_examples=30)
    @given(strategy(kind))
    def survives(fact: Fact) -> None:
        assert through_the_log(fact) == fact

    survives()


@given(JSON)
def test_values_of_any_shape_survive_inside_a_fact(value: Any) -> None:
    """A scenario may hold whatever JSON holds."""
    data = {
        "name": "a",
        "why": "",
        "steps": [{"request": {"path": "/", "json": value}, "expect": {"status": 200}}],
    }
    scenario = build(Scenario, data)
    (call,) = scenario.steps[0].acts
    assert isinstance(call, Call)
    assert call.json == value
    assert build(Scenario, parse(canonical(plain(scenario)))) == scenario


@pytest.mark.parametrize("status", [200, (200, 201), "4xx", ()])
def test_a_field_of_several_types_keeps_the_one_it_has(status: Any) -> None:
    """A number stays a number, a class a text, and several a tuple."""
    assert build(Expect, parse(canonical(plain(Expect(status))))) == Expect(status)


@pytest.mark.parametrize("answer", [None, Answer(200, (("a", "b"),), "x", 1.5)])
def test_a_field_that_may_be_empty_keeps_what_it_has(answer: Answer | None) -> None:
    """Something or nothing."""
    exchange = Exchange("GET", "/", {"a": "b"}, None, answer)
    again = build(Exchange, plain(exchange))
    assert again.answer is None or again.answer.status == 200
    assert (again.body, bool(again.answer)) == (None, bool(answer))


def test_a_missing_field_takes_its_default() -> None:
    """A log written before a field was added can still be read."""
    assert decode("StepStarted", {"step": "plan", "attempt": 1}) == StepStarted(StepName.PLAN, 1)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("MoonRose", {}, "MoonRose is not a fact this version knows"),
        ("Fact", {}, "Fact is not a fact this version knows"),
        ("Phase", {}, "Phase is not a fact this version knows"),
        ("Presented", {"path": "", "b": 1, "a": 2}, "Presented has no field a, b"),
        ("Presented", [], "Presented is an object, not list"),
        ("Verified", {"evidence": None}, "Evidence is an object, not NoneType"),
        ("Validated", {"tree": "", "results": [{"colour": 1}]}, "CheckResult has no field colour"),
    ],
)
def test_refuses_what_this_version_does_not_know(name: str, data: Any, words: str) -> None:
    """An unknown fact or field, at any depth, is refused by name and never dropped."""
    with pytest.raises(UnknownFact, match=words):
        decode(name, data)


def test_refuses_a_word_that_is_none_of_the_choices() -> None:
    """A mode nobody knows does not become a text."""
    data = {**plain(EXAMPLES[0]), "mode": "destroy"}
    with pytest.raises(ValueError, match="'destroy' is not a valid Mode"):
        build(TaskOpened, data)


def test_plain_data_is_json_data() -> None:
    """Enumerations become texts, tuples lists, and keys texts."""
    assert plain(ProjectRead("", {"test": "pytest"}, ("a",))) == {
        "start": "",
        "checks": {"test": "pytest"},
        "notes": ["a"],
        "idle": False,
    }
    assert plain({1: (Mode.PLAN, [None])}) == {"1": ["plan", [None]]}
