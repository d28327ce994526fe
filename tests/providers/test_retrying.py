"""A provider that is asked again when its service fails in a way that may pass."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_executor.errors import (
    ContextOverflow,
    Fault,
    KeyRefused,
    ModelUnknown,
    ProviderDown,
    ProviderFault,
    QuotaSpent,
    RequestRefused,
)
from harness_executor.providers.base import Patience, Reply, Request, Said
from harness_executor.providers.retrying import Retrying, Stumble, uniform
from tests.providers.virtual import VirtualClock

ASKED = Request("executor", "m", "You are the executor.", (Said("add a route"),))
PATIENCE = Patience()


@dataclass
class Failing:
    """A service that meets one trouble after the other, and then answers."""

    troubles: list[BaseException]
    calls: int = 0

    def complete(self, request: Request) -> Reply:
        """The next trouble, or an answer."""
        assert request is ASKED
        self.calls += 1
        if self.troubles:
            raise self.troubles.pop(0)
        return Reply("at last")


@dataclass
class Bench:
    """A service, a clock, and what was told."""

    service: Failing
    clock: VirtualClock = field(default_factory=VirtualClock)
    told: list[Stumble] = field(default_factory=list)

    def retrying(self, patience: Patience = PATIENCE, draw: Callable[[], float] = lambda: 0.5) -> Retrying:
        """The wrapper under test."""
        return Retrying(self.service, patience, self.clock, self.told.append, draw)


def _fault(after: float | None = None, number: int = 1) -> ProviderFault:
    return ProviderFault("overloaded", said=Fault(529, f"req_{number}", after))


def _bench(*troubles: BaseException) -> Bench:
    return Bench(Failing(list(troubles)))


def test_an_answer_passes_through() -> None:
    """Without trouble nothing is waited for and nothing is told."""
    bench = _bench()
    assert bench.retrying().complete(ASKED).text == "at last"
    assert (bench.service.calls, bench.clock.waits, bench.told) == (1, [], [])


def test_a_fault_is_tried_again() -> None:
    """After three faults the fourth attempt answers, and each failed one was told with its request."""
    bench = _bench(_fault(number=1), _fault(number=2), _fault(number=3))
    assert bench.retrying().complete(ASKED).text == "at last"
    assert [told.request_id for told in bench.told] == ["req_1", "req_2", "req_3"]
    assert [told.attempt for told in bench.told] == [1, 2, 3]
    assert [told.wait for told in bench.told] == bench.clock.waits == [0.5, 1.0, 2.0]
    assert all((told.status, told.why) == (529, "overloaded") for told in bench.told)


@pytest.mark.parametrize(
    "error",
    [
        RequestRefused("no"),
        ContextOverflow("no"),
        KeyRefused("no"),
        QuotaSpent("no"),
        ModelUnknown("no"),
        ValueError("no"),
        KeyboardInterrupt("no"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_nothing_else_is_tried_again(error: BaseException) -> None:
    """Every error that is no fault passes through at once, as it is."""
    bench = _bench(error)
    with pytest.raises(type(error)) as raised:
        bench.retrying().complete(ASKED)
    assert raised.value is error
    assert (bench.service.calls, bench.clock.waits, bench.told) == (1, [], [])


@pytest.mark.parametrize("attempts", [1, 2, 6, 20])
def test_attempts_are_exactly_the_cap(attempts: int) -> None:
    """A service that never comes back is called as often as was allowed, not once more."""
    bench = _bench(*(_fault(number=number) for number in range(100)))
    with pytest.raises(ProviderDown, match=f"failed {attempts} times in a row: overloaded"):
        bench.retrying(Patience(attempts=attempts)).complete(ASKED)
    assert bench.service.calls == len(bench.told) == attempts
    assert len(bench.clock.waits) == attempts - 1
    assert bench.told[-1].wait == 0.0


def test_giving_up_says_what_happened_and_what_to_do() -> None:
    """The last reason, its status, the requests, and how to go on are named."""
    bench = _bench(_fault(number=1), _fault(number=2))
    with pytest.raises(ProviderDown) as raised:
        bench.retrying(Patience(attempts=2)).complete(ASKED)
    assert raised.value.message == (
        "the model's service failed 2 times in a row: overloaded (status 529); requests req_1, req_2"
    )
    assert "harness resume" in raised.value.hint
    assert raised.value.pause == "provider_down"


def test_attempts_before_a_restart_count() -> None:
    """Four attempts that failed before a crash leave two of six."""
    bench = _bench(*(_fault() for _ in range(10)))
    with pytest.raises(ProviderDown, match="failed 6 times"):
        bench.retrying(Patience(attempts=6, used=4)).complete(ASKED)
    assert bench.service.calls == 2
    assert [told.attempt for told in bench.told] == [5, 6]


@pytest.mark.parametrize("used", [6, 7])
def test_with_no_attempt_left_nothing_is_sent(used: int) -> None:
    """A cap that was reached before a crash is not passed after it."""
    bench = _bench()
    with pytest.raises(ProviderDown, match=f"failed {used} times in a row"):
        bench.retrying(Patience(attempts=6, used=used, wait=30.0)).complete(ASKED)
    assert (bench.service.calls, bench.clock.waits) == (0, [])


def test_a_wait_that_a_crash_cut_short_is_waited_out() -> None:
    """What was left of a wait passes before the first attempt."""
    bench = _bench()
    bench.retrying(Patience(used=1, wait=250.0)).complete(ASKED)
    assert bench.clock.waits == [250.0]


def test_the_past_counts_for_the_first_call_only() -> None:
    """After an answer, the next call has all its attempts and waits for nothing."""
    bench = _bench()
    provider = bench.retrying(Patience(attempts=3, used=2, wait=9.0))
    provider.complete(ASKED)
    bench.service.troubles = [_fault(), _fault()]
    assert provider.complete(ASKED).text == "at last"
    assert bench.clock.waits == [9.0, 0.5, 1.0]
    assert [told.attempt for told in bench.told] == [1, 2]


@pytest.mark.parametrize(
    ("after", "draw", "wait"),
    [(5.0, 0.0, 5.0), (5.0, 1.0, 6.25), (0.0, 1.0, 1.0), (300.0, 0.5, 337.5), (3600.0, 0.0, 3600.0)],
)
def test_jitter_is_added_above_what_the_service_asked(after: float, draw: float, wait: float) -> None:
    """However long the service asks to wait, the next attempt comes after that."""
    bench = _bench(_fault(after))
    bench.retrying(draw=lambda: draw).complete(ASKED)
    assert bench.clock.waits == [wait]


@pytest.mark.parametrize("after", [3600.1, 86_400.0, 1e9])
def test_a_wait_that_is_too_long_parks_the_task(after: float) -> None:
    """Rather than calling too early, no further call is made, and the seconds are named."""
    bench = _bench(_fault(after))
    with pytest.raises(ProviderDown, match=f"asks to wait {after:.0f} s, longer than 3600 s"):
        bench.retrying().complete(ASKED)
    assert (bench.service.calls, bench.clock.waits) == (1, [])
    assert [told.wait for told in bench.told] == [0.0]


@pytest.mark.parametrize("after", [None, -1.0, math.nan, math.inf, -math.inf])
def test_a_wait_that_makes_no_sense_is_our_own(after: float | None) -> None:
    """Nonsense neither crashes nor spins: the usual waits are taken."""
    bench = _bench(_fault(after), _fault(after))
    bench.retrying().complete(ASKED)
    assert bench.clock.waits == [0.5, 1.0]


def test_waits_grow_up_to_two_minutes() -> None:
    """Without a word from the service the waits double, and stop growing."""
    bench = _bench(*(_fault() for _ in range(2000)))
    bench.retrying(Patience(attempts=2001), draw=lambda: 1.0).complete(ASKED)
    assert bench.clock.waits[:8] == [1, 2, 4, 8, 16, 32, 64, 120]
    assert max(bench.clock.waits) == 120


def test_a_failure_is_told_before_the_wait() -> None:
    """Whoever writes it down has it before time passes, so that a crash in the wait loses nothing."""
    bench = _bench(_fault(5.0))
    waited_when_told: list[int] = []
    provider = Retrying(
        bench.service, Patience(), bench.clock, lambda _: waited_when_told.append(len(bench.clock.waits))
    )
    provider.complete(ASKED)
    assert waited_when_told == [0]
    assert len(bench.clock.waits) == 1


def test_a_message_never_grows() -> None:
    """Whatever the service said, the error and what is told stay short."""
    bench = _bench(*(ProviderFault("x" * 9_000, said=Fault(500, "r" * 900)) for _ in range(50)))
    with pytest.raises(ProviderDown) as raised:
        bench.retrying(Patience(attempts=50)).complete(ASKED)
    assert len(raised.value.message) <= 600
    assert "failed 50 times" in raised.value.message
    assert "status 500" in raised.value.message
    assert all(len(told.why) <= 600 and len(told.request_id) <= 100 for told in bench.told)


def test_draws_are_spread() -> None:
    """Numbers drawn lie between 0 and 1 and differ."""
    drawn = [uniform() for _ in range(1000)]
    assert all(0 <= number < 1 for number in drawn)
    assert len(set(drawn)) == 1000
    assert 0.4 < sum(drawn) / 1000 < 0.6


@settings(max_examples=300, deadline=None, database=None)
@given(
    st.lists(st.one_of(st.none(), st.floats()), max_size=12),
    st.integers(1, 8),
    st.integers(0, 8),
    st.floats(0, 1),
)
def test_no_service_makes_it_call_too_often_or_too_early(
    afters: list[float | None], attempts: int, used: int, drawn: float
) -> None:
    """Whatever waits are asked for, attempts stay within the cap and no sane wait is cut short."""
    bench = _bench(*(_fault(after) for after in afters))
    with suppress(ProviderDown):
        bench.retrying(Patience(attempts=attempts, used=used), draw=lambda: drawn).complete(ASKED)
    assert used + bench.service.calls <= max(attempts, used)
    for after, wait in zip(afters, bench.clock.waits, strict=False):
        assert 0 <= wait <= 3600 * 1.25
        if after is not None and math.isfinite(after):
            assert wait >= after
