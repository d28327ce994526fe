"""What repeated runs of a scenario mean, and whether they are enough to say."""

from collections.abc import Sequence

from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import Meaning, ScenarioRun

ENOUGH = 8
"""Runs on each side after which an outcome that never changed is believed."""
ENOUGH_AGAINST = 12
"""Runs after which code that never passes is worse than code that sometimes does."""
MOST = 22
"""Runs on each side after which nothing more is asked."""
_SURE = 4
"""Runs on each side that it takes to say that what worked works no more."""


def weigh(base: tuple[bool, ...], change: tuple[bool, ...]) -> Meaning:
    """What the runs on both sides mean together, as far as they go."""
    if _differ(base):
        is_worse = not any(change) and len(change) >= ENOUGH_AGAINST
        return Meaning.REGRESSES if is_worse else Meaning.NOISY
    if not base[0]:
        return Meaning.PROVES if all(change) else Meaning.MISSING
    failures = change.count(False)
    if 0 < failures * 3 < len(change):
        return Meaning.NOISY
    return Meaning.REGRESSES if failures else Meaning.HOLDS


def is_open(base: tuple[bool, ...], change: tuple[bool, ...]) -> bool:
    """Could a few more runs of an unsteady scenario still change what it means?"""
    if _differ(base):
        return not any(change) and len(change) < ENOUGH_AGAINST
    return len(change) < (MOST if _differ(change) else ENOUGH)


def is_hasty(base: tuple[bool, ...], change: tuple[bool, ...]) -> bool:
    """Would so few runs call work broken that may only have met a bad moment?"""
    return all(base) and not any(change) and len(change) < _SURE


@frozen
class Outcome:
    """How a scenario came out, without the values that are drawn anew each time."""

    passed: bool
    steps: int
    status: int | None
    failed: tuple[str, ...]


def outcome_of(run: ScenarioRun) -> Outcome:
    """How one run came out."""
    if not run.steps:
        return Outcome(run.passed, 0, None, ())
    last = run.steps[-1]
    answer = last.exchange.answer
    failed = tuple(assertion.type for assertion in last.assertions if not assertion.passed)
    return Outcome(run.passed, len(run.steps), answer.status if answer else None, failed)


def is_unsteady(echoes: Sequence[tuple[Outcome, ...]], *, passed: bool) -> bool:
    """Is an outcome none that repeats, from what each server of one side answered when asked again?

    What a server remembers changes its answers too, but in the same way on each, and makes no failure pass.
    """
    recovers = not passed and any(outcome.passed for echo in echoes for outcome in echo)
    return recovers or len(set(echoes)) > 1


def _differ(runs: tuple[bool, ...]) -> bool:
    return len(set(runs)) > 1
