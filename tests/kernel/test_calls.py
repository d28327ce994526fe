"""What the model calls of a task add up to."""

from functools import reduce
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel.budget import Amount, Caps, passed
from harness_executor.kernel.calls import Calls
from harness_executor.kernel.events import (
    CallCharged,
    CallReserved,
    CallStumbled,
    Fact,
    TaskResumed,
    WriterClaimed,
)


def _reserved(call: int, micros: int | None = 100, elapsed: float = 0.0, job: str = "j") -> CallReserved:
    return CallReserved(job, call, "p:m", 10, 5, micros, elapsed)


def _charged(call: int, micros: int | None = 40, *, failed: bool = False, job: str = "j") -> CallCharged:
    return CallCharged(job, call, "p:m", 4, 2, micros, failed=failed)


def _stumbled(attempt: int) -> CallStumbled:
    return CallStumbled("j", attempt, attempt, "p:m", 529, "", "overloaded", 2.0, "2026-01-01T00:00:00+00:00")


def _after(*facts: Fact) -> Calls:
    return reduce(Calls.after, facts, Calls())


def test_a_reservation_counts_in_full_until_it_is_settled() -> None:
    """Before the bill comes, the most a call can cost is spent."""
    assert _after(_reserved(1)).used == Amount(100, 15, 1)
    assert _after(_reserved(1), _charged(1)).used == Amount(40, 6, 1)


def test_a_reservation_that_a_crash_left_stays_charged() -> None:
    """A new process refunds nothing."""
    calls = _after(_reserved(1), WriterClaimed("again"), _reserved(1, job="k"), _charged(1, job="k"))
    assert calls.used.micros == 140
    assert list(calls.open) == ["j/1"]


def test_an_unknown_price_is_counted_as_unknown() -> None:
    """A call without a price adds tokens and a mark, not money."""
    used = _after(_reserved(1, micros=None), _charged(1, micros=None)).used
    assert (used.micros, used.tokens, used.unpriced) == (0, 6, 1)


def test_time_at_work_adds_up_over_processes() -> None:
    """Each process counts from zero; the task counts them all."""
    calls = _after(
        _reserved(1, elapsed=30), WriterClaimed("b"), _reserved(2, elapsed=12), _reserved(3, elapsed=20)
    )
    assert calls.used.seconds == 50


def test_stumbles_last_until_an_answer_or_a_person() -> None:
    """A failed call keeps them; an answer or a person clears them."""
    failing = (_reserved(1), _charged(1, failed=True), _stumbled(1))
    assert len(_after(*failing).stumbles) == 1
    assert _after(*failing, _reserved(2), _charged(2)).stumbles == ()
    assert _after(*failing, TaskResumed("user")).stumbles == ()


@given(st.lists(st.tuples(st.integers(1, 90), st.integers(0, 100), st.booleans()), max_size=60), st.randoms())
def test_jobs_at_the_same_time_cannot_pass_a_cap_together(
    wanted: list[tuple[int, int, bool]], chance: Random
) -> None:
    """Whatever the order of reserving and settling, what is used never passes the cap."""
    caps, calls, waiting = Caps(micros=500), Calls(), list[tuple[str, int]]()
    for number, (most, part, settles) in enumerate(wanted):
        job = f"job-{number % 5}"
        if not passed(caps, calls.used.plus(Amount(micros=most))):
            calls = calls.after(_reserved(number, most, job=job))
            waiting.append((job, number))
        if settles and waiting:
            owner, call = waiting.pop(chance.randrange(len(waiting)))
            held = calls.open[f"{owner}/{call}"].micros or 0
            calls = calls.after(_charged(call, held * part // 100, job=owner))
        assert calls.used.micros <= 500
