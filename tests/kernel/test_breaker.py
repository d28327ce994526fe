"""A service that failed many times in a row is left alone."""

from datetime import UTC, datetime, timedelta

from harness_executor.kernel.breaker import COOLING, FAILURES, Breaker

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _failing(times: int) -> Breaker:
    breaker = Breaker()
    for _ in range(times):
        breaker = breaker.failed(NOW)
    return breaker


def test_it_opens_with_the_last_failure_it_takes() -> None:
    """One failure fewer leaves it closed."""
    assert _failing(FAILURES - 1).open_until(NOW) is None
    assert _failing(FAILURES).open_until(NOW) == NOW + COOLING


def test_it_lets_one_through_after_a_while_and_opens_again() -> None:
    """After cooling a call is tried; one more failure is enough."""
    later = NOW + COOLING
    assert _failing(FAILURES).open_until(later) is None
    assert _failing(FAILURES).failed(later).open_until(later) == later + COOLING


def test_a_clock_that_went_back_does_not_keep_it_open() -> None:
    """An opening in the future counts for nothing."""
    assert _failing(FAILURES).open_until(NOW - timedelta(hours=1)) is None
