"""One ledger for every task and process of a user."""

import multiprocessing
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness_executor.errors import BudgetSpent, HarnessError
from harness_executor.kernel.budget import Amount, Budget, Caps
from harness_executor.store.ledger import Entry, Ledger

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY = Budget(day=Caps(micros=1000))


def _entry(name: str, micros: int | None = 400, night: str = "") -> Entry:
    return Entry(name, night, micros, 50)


def test_a_day_cannot_be_overdrawn(tmp_path: Path) -> None:
    """A call that could pass the cap of the day is refused and not written."""
    ledger = Ledger(tmp_path)
    ledger.reserve(_entry("a"), DAY, NOW)
    ledger.reserve(_entry("b"), DAY, NOW)
    with pytest.raises(BudgetSpent, match=r"the budget of the day is \$0\.001000") as refused:
        ledger.reserve(_entry("c"), DAY, NOW)
    assert "harness resume" in refused.value.hint
    assert ledger.today(NOW) == Amount(800, 100, 2)


def test_settling_makes_room(tmp_path: Path) -> None:
    """What a call did not use can be used by the next."""
    ledger = Ledger(tmp_path)
    for name in "abcdefg":
        ledger.reserve(_entry(name), DAY, NOW)
        ledger.settle(replace(_entry(name, 100), is_settled=True), NOW)
    assert ledger.today(NOW).micros == 700


def test_another_process_sees_every_line(tmp_path: Path) -> None:
    """A ledger that was open before reads what others added."""
    ours, theirs = Ledger(tmp_path), Ledger(tmp_path)
    ours.reserve(_entry("a"), DAY, NOW)
    theirs.reserve(_entry("b"), DAY, NOW)
    with pytest.raises(BudgetSpent):
        ours.reserve(_entry("c"), DAY, NOW)


def test_the_next_day_begins_with_nothing(tmp_path: Path) -> None:
    """Each day has a page of its own; a call is settled on the page it was reserved on."""
    ledger = Ledger(tmp_path)
    ledger.reserve(_entry("a", 900), DAY, NOW)
    tomorrow = NOW + timedelta(days=1)
    ledger.settle(replace(_entry("a", 100), is_settled=True), tomorrow)
    assert ledger.today(tomorrow) == Amount()
    assert ledger.today(NOW).micros == 100


def test_a_night_is_counted_over_midnight_and_apart_from_the_day(tmp_path: Path) -> None:
    """Runs of one night share a cap; others do not count."""
    budget = Budget(night=Caps(micros=1000))
    night = Ledger(tmp_path, night="n1")
    Ledger(tmp_path).reserve(_entry("day", 5000), budget, NOW)
    night.reserve(_entry("a", 600, "n1"), budget, NOW + timedelta(hours=11))
    with pytest.raises(BudgetSpent, match="night n1"):
        night.reserve(_entry("b", 600, "n1"), budget, NOW + timedelta(hours=13))
    Ledger(tmp_path, night="n2").reserve(_entry("c", 600, "n2"), budget, NOW)


def test_a_call_of_unknown_price_is_held_by_tokens(tmp_path: Path) -> None:
    """Unknown is not free: the cap on tokens stops it."""
    ledger = Ledger(tmp_path)
    budget = Budget(day=Caps(micros=1, tokens=120))
    ledger.reserve(_entry("a", None), budget, NOW)
    ledger.reserve(_entry("b", None), budget, NOW)
    with pytest.raises(BudgetSpent, match="tokens"):
        ledger.reserve(_entry("c", None), budget, NOW)
    assert ledger.today(NOW).unpriced == 2


def test_the_time_of_calls_is_counted(tmp_path: Path) -> None:
    """A day whose minutes are used up begins no call."""
    ledger, budget = Ledger(tmp_path), Budget(day=Caps(seconds=60))
    ledger.reserve(_entry("a"), budget, NOW)
    ledger.settle(replace(_entry("a"), seconds=60.5, is_settled=True), NOW)
    with pytest.raises(BudgetSpent, match="1 minutes"):
        ledger.reserve(_entry("b"), budget, NOW)


def test_an_unfinished_line_was_never_granted(tmp_path: Path) -> None:
    """What a crash left of a line is cut, and the lines before it count."""
    ledger = Ledger(tmp_path)
    ledger.reserve(_entry("a"), DAY, NOW)
    page = next(tmp_path.glob("*.jsonl"))
    with page.open("ab") as stream:
        stream.write(b'{"id":"half')
    Ledger(tmp_path).reserve(_entry("b"), DAY, NOW)
    assert Ledger(tmp_path).today(NOW) == Amount(800, 100, 2)


def test_a_line_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """Nobody guesses what was spent."""
    (tmp_path / f"{NOW:%Y-%m-%d}.jsonl").write_text('{"id":1}\n')
    with pytest.raises(HarnessError, match="cannot be read"):
        Ledger(tmp_path).reserve(_entry("a"), DAY, NOW)


def _spend(folder: Path, name: str) -> None:
    ledger, granted = Ledger(folder), 0
    for number in range(60):
        entry = _entry(f"{name}/{number}", 37)
        try:
            ledger.reserve(entry, DAY, NOW)
        except BudgetSpent:
            os._exit(granted)
        granted += 1
        if number % 3 == 0:
            ledger.settle(replace(entry, micros=5, is_settled=True), NOW)
    os._exit(granted)


def test_processes_at_the_same_time_cannot_overdraw_together(tmp_path: Path) -> None:
    """Six processes that spend as fast as they can stop at the cap, all of them together."""
    context = multiprocessing.get_context("fork")
    spenders = [context.Process(target=_spend, args=(tmp_path, f"p{number}")) for number in range(6)]
    for spender in spenders:
        spender.start()
    for spender in spenders:
        spender.join(60)
    used = Ledger(tmp_path).today(NOW)
    assert 1000 - 37 < used.micros <= 1000
    assert used.turns == sum(spender.exitcode or 0 for spender in spenders)
