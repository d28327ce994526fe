"""Facts."""

import dataclasses

import pytest

from harness_executor.kernel import events as e
from harness_executor.kernel.checked import CheckResult
from tests.kernel.examples import EXAMPLES

FACTS = e.Fact.__subclasses__()


@pytest.mark.parametrize("fact", EXAMPLES, ids=lambda fact: type(fact).__name__)
def test_a_fact_cannot_be_changed(fact: e.Fact) -> None:
    """What happened stays as it was written."""
    name = dataclasses.fields(fact)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(fact, name, "something else")


def test_every_fact_has_an_example() -> None:
    """A new fact comes with an example, so that the tests go through it."""
    assert {type(fact) for fact in EXAMPLES} == set(FACTS)


@pytest.mark.parametrize("kind", FACTS, ids=lambda kind: kind.__name__)
def test_a_fact_says_what_happened(kind: type[e.Fact]) -> None:
    """Every fact has a sentence, and a name in the past tense."""
    assert (kind.__doc__ or "").endswith(".")
    past = ("ed", "Read", "Found", "Frozen", "Made", "Cut")
    assert kind.__name__.endswith(past)


@pytest.mark.parametrize(
    ("base", "change", "blocks"),
    [(True, True, False), (True, False, True), (False, True, False), (False, False, False)],
)
def test_only_a_newly_red_check_blocks(base: bool, change: bool, blocks: bool) -> None:
    """What was already red on base does not stop a change."""
    assert CheckResult("test", "pytest", base, change).blocks is blocks
