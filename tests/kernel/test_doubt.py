"""What repeated runs mean, and when they are enough."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel.doubt import (
    ENOUGH,
    ENOUGH_AGAINST,
    MOST,
    Outcome,
    is_hasty,
    is_open,
    is_unsteady,
    outcome_of,
    weigh,
)
from harness_executor.kernel.expect import Answer, Assertion
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.report import Exchange, Meaning, ScenarioRun, StepRun

BAD = Outcome(passed=False, steps=1, status=404, failed=("status_code",))
ODD = Outcome(passed=False, steps=1, status=500, failed=("status_code",))
GOOD = Outcome(passed=True, steps=1, status=200, failed=())
SIDES = st.integers(1, MOST).flatmap(
    lambda runs: st.tuples(*[st.lists(st.booleans(), min_size=runs, max_size=runs).map(tuple)] * 2)
)


@pytest.mark.parametrize(
    ("base", "change", "meaning"),
    [
        (False, True, Meaning.PROVES),
        (True, True, Meaning.HOLDS),
        (True, False, Meaning.REGRESSES),
        (False, False, Meaning.MISSING),
    ],
)
@pytest.mark.parametrize("runs", [1, 2, 3, MOST])
def test_base_and_change_together_mean_one_thing(
    base: bool, change: bool, meaning: Meaning, runs: int
) -> None:
    """The four corners of the table, however often both sides were run."""
    assert weigh((base,) * runs, (change,) * runs) is meaning


@given(SIDES)
def test_what_passes_on_base_now_and_then_proves_nothing(
    sides: tuple[tuple[bool, ...], tuple[bool, ...]],
) -> None:
    """Only what never passed on base and always passes now is a proof."""
    base, change = sides
    assert (weigh(base, change) is Meaning.PROVES) is (not any(base) and all(change))


@given(SIDES)
def test_what_works_only_sometimes_and_never_did_before_is_missing(
    sides: tuple[tuple[bool, ...], tuple[bool, ...]],
) -> None:
    """A new thing that fails once does not work."""
    base, change = sides
    if not any(base) and not all(change):
        assert weigh(base, change) is Meaning.MISSING


@pytest.mark.parametrize(
    ("base", "change", "meaning"),
    [
        ("pp", "pf", Meaning.REGRESSES),
        ("pf", "pp", Meaning.NOISY),
        ("pf", "ff", Meaning.NOISY),
        ("pf" * 6, "ff" * 6, Meaning.REGRESSES),
        ("pf" * 6, "ff" * 5 + "fp", Meaning.NOISY),
        ("pp" * 11, "pf" + "pp" * 10, Meaning.NOISY),
        ("pp" * 11, "pf" * 8 + "pp" * 3, Meaning.REGRESSES),
    ],
)
def test_failures_now_and_then_are_counted(base: str, change: str, meaning: Meaning) -> None:
    """A change regresses if it fails much more often than base, and not because of one bad moment."""
    assert weigh(_passed(base), _passed(change)) is meaning


@pytest.mark.parametrize(
    ("base", "change", "wanted"),
    [
        ("pf", "pf", False),
        ("pf", "ff", True),
        ("pf" * (ENOUGH_AGAINST // 2), "ff" * (ENOUGH_AGAINST // 2), False),
        ("pp", "ff", True),
        ("p" * ENOUGH, "f" * ENOUGH, False),
        ("p" * ENOUGH, "f" * (ENOUGH - 1) + "p", True),
        ("p" * MOST, "f" * (MOST - 1) + "p", False),
    ],
)
def test_more_is_asked_while_it_could_matter(base: str, change: str, wanted: bool) -> None:
    """Asking ends when base was seen to fail now and then, or after enough runs."""
    assert is_open(_passed(base), _passed(change)) is wanted


@pytest.mark.parametrize(
    ("base", "change", "hasty"),
    [
        ("pp", "ff", True),
        ("pppp", "ffff", False),
        ("pp", "pf", False),
        ("ff", "ff", False),
        ("pf", "ff", False),
    ],
)
def test_two_bad_moments_break_nothing(base: str, change: str, hasty: bool) -> None:
    """What always worked is called broken only after more than two servers of each side said so."""
    assert is_hasty(_passed(base), _passed(change)) is hasty


@pytest.mark.parametrize(
    ("echoes", "unsteady"),
    [
        ([], False),
        ([(BAD, BAD), (BAD, BAD)], False),
        ([(BAD, ODD), (BAD, ODD)], False),
        ([(BAD, ODD), (BAD, BAD)], True),
        ([(BAD, GOOD), (BAD, GOOD)], True),
    ],
)
def test_a_failure_that_does_not_repeat_is_unsteady(
    echoes: list[tuple[Outcome, ...]], unsteady: bool
) -> None:
    """Passing once, or differing between two servers of the same code, is a hint of noise."""
    assert is_unsteady(echoes, passed=False) is unsteady


@pytest.mark.parametrize(
    ("echoes", "unsteady"),
    [
        ([(GOOD, GOOD), (GOOD, GOOD)], False),
        ([(BAD, BAD), (BAD, BAD)], False),
        ([(GOOD, BAD), (GOOD, BAD)], False),
        ([(GOOD, BAD), (GOOD, GOOD)], True),
    ],
)
def test_a_success_is_unsteady_only_if_servers_disagree(
    echoes: list[tuple[Outcome, ...]], unsteady: bool
) -> None:
    """A server that remembers may refuse the second time, and then every server of that code does."""
    assert is_unsteady(echoes, passed=True) is unsteady


def test_an_outcome_has_no_values_that_are_drawn() -> None:
    """Two failures that differ in nothing but what was drawn are the same."""
    assert outcome_of(_run("ann")) == outcome_of(_run("bob")) == Outcome(False, 1, 409, ("json:$.name",))
    assert outcome_of(ScenarioRun("empty", (), complete=False)) == Outcome(False, 0, None, ())


def _passed(runs: str) -> tuple[bool, ...]:
    return tuple(run == "p" for run in runs)


def _run(name: str) -> ScenarioRun:
    exchange = Exchange("GET", f"http://127.0.0.1/{name}", {}, None, Answer(409, (), name))
    failed = Assertion("json:$.name", "x", name, passed=False)
    return ScenarioRun("s", (StepRun("", exchange, Expect(200), (failed,)),), complete=True)
