"""Caps and amounts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel.budget import Amount, Budget, Caps, dollars, passed, share

CAPS = st.builds(
    Caps,
    st.none() | st.integers(0, 1000),
    st.none() | st.integers(0, 1000),
    st.none() | st.integers(0, 1000),
    st.none() | st.floats(0, 1000),
)


def test_an_amount_at_its_cap_passes_nothing() -> None:
    """A cap may be reached, not passed."""
    assert passed(Caps(micros=10, turns=2), Amount(micros=10, turns=2)) == ""


@pytest.mark.parametrize(
    ("caps", "amount", "said"),
    [
        (Caps(micros=2_000_000), Amount(micros=2_000_001), "$2.00"),
        (Caps(tokens=1000), Amount(tokens=1001), "1,000 tokens, 1,001 tokens would be used"),
        (Caps(turns=3), Amount(turns=4), "3 turns, 4 turns would be used"),
        (Caps(seconds=120), Amount(seconds=180), "2 minutes, 3 minutes would be used"),
    ],
)
def test_a_passed_cap_is_named_with_both_values(caps: Caps, amount: Amount, said: str) -> None:
    """What stops a task is said with the cap and with what it would have used."""
    assert said in passed(caps, amount)


def test_a_price_nobody_knows_is_not_held_by_money_alone() -> None:
    """A cap on money needs one on tokens beside it, or a price."""
    unknown = Amount(tokens=10, turns=1, unpriced=1)
    assert "the price of the model is unknown" in passed(Caps(micros=10**9), unknown)
    assert passed(Caps(micros=10**9, tokens=10), unknown) == ""
    assert passed(Caps(turns=1), unknown) == ""


def test_no_cap_stops_nothing() -> None:
    """Without a cap any amount is fine."""
    assert passed(Caps(), Amount(10**12, 10**12, 10**12, 1e12)) == ""


@given(CAPS, CAPS, st.builds(Amount, *[st.integers(0, 2000)] * 3, st.floats(0, 2000)))
def test_narrowing_never_allows_more(one: Caps, other: Caps, amount: Amount) -> None:
    """What either of two caps stops, both together stop."""
    both = one.narrowed(other)
    assert bool(passed(both, amount)) == bool(passed(one, amount) or passed(other, amount))


@given(CAPS, CAPS)
def test_overriding_takes_what_is_said(one: Caps, other: Caps) -> None:
    """A cap that is given wins, one that is not stays."""
    both = one.overridden(other)
    assert both.turns == (one.turns if other.turns is None else other.turns)


def test_a_budget_narrows_every_span() -> None:
    """Call, task, night and day are narrowed each on its own."""
    both = Budget(task=Caps(turns=5), day=Caps(micros=9)).narrowed(Budget(task=Caps(turns=3)))
    assert both == Budget(task=Caps(turns=3), day=Caps(micros=9))


def test_the_share_is_that_of_the_tightest_cap() -> None:
    """Half the money and nine tenths of the turns are nine tenths."""
    assert share(Caps(micros=100, turns=10), Amount(micros=50, turns=9)) == pytest.approx(0.9)
    assert share(Caps(), Amount(micros=50)) == 0.0
    assert share(Caps(turns=0), Amount()) == 1.0


def test_an_unknown_price_is_called_so() -> None:
    """Money that nobody knows is never shown as nothing."""
    assert dollars(None) == "unknown"
    assert dollars(0) == "$0.00"
    assert dollars(123) == "$0.000123"
    assert dollars(1_234_567) == "$1.23"
