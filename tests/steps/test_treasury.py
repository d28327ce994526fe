"""May a model call be made, and what did it cost?"""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness_executor.errors import BudgetSpent, ProviderDown
from harness_executor.kernel import events as e
from harness_executor.kernel.breaker import COOLING, FAILURES
from harness_executor.kernel.budget import Budget, Caps
from harness_executor.kernel.task import Task, apply
from harness_executor.providers.base import Patience
from harness_executor.providers.prices import Price
from harness_executor.steps.treasury import WINDOW, Treasury, longest_answer, window
from harness_executor.store.breakers import Breakers
from harness_executor.store.ledger import Ledger
from harness_executor.subagents.jobs import Spent, Stumbled, Wants
from harness_executor.tables import Service

MODEL = "chat:tiny"
OWN = {MODEL: Price(input=1.0, output=10.0)}
"""A token of input costs one microdollar, a token of output ten."""


@dataclass
class HandClock:
    """A clock that stands still until it is moved."""

    at: float = 0.0

    def now(self) -> datetime:
        """Wall time."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.at)

    def monotonic(self) -> float:
        """The same, in seconds."""
        return self.at

    def sleep(self, seconds: float) -> None:
        """Move on."""
        self.at += seconds


@dataclass
class Bank:
    """A task whose facts are believed as soon as they are made, as the coordinator does."""

    folder: Path
    caps: Caps = field(default_factory=Caps)
    budget: Budget = field(default_factory=Budget)
    clock: HandClock = field(default_factory=HandClock)
    task: Task = field(default_factory=Task)
    prices: dict[str, Price] = field(default_factory=lambda: dict(OWN))

    def __post_init__(self) -> None:
        """Open the task."""
        opened = e.TaskOpened("t", "r", e.Mode.IMPLEMENT, e.Driver.RUNNER, "b", "t", caps=self.caps)
        self.task = apply(self.task, opened)
        self.treasury = Treasury(
            lambda: self.task,
            self.budget,
            Ledger(self.folder / "ledger"),
            Breakers(self.folder / "breakers"),
            self.clock,
            self.prices,
            self.clock.monotonic(),
        )

    def reserve(self, call: int, read: int = 100, written: int = 10) -> e.CallReserved:
        """Ask for a call and write the reservation down."""
        fact = self.treasury.reserve("job", MODEL, Wants(call, read, written))
        self.task = apply(self.task, fact)
        return fact

    def settle(self, spent: Spent) -> e.CallCharged:
        """Settle a call and write it down."""
        fact = self.treasury.settle("job", MODEL, spent)
        self.task = apply(self.task, fact)
        return fact

    def stumble(self, attempt: int, wait: float) -> None:
        """Write a failed attempt down."""
        message = Stumbled(attempt, attempt, 529, f"req-{attempt}", "overloaded", wait)
        self.task = apply(self.task, self.treasury.stumbled("job", MODEL, message))


def test_a_call_is_reserved_at_its_worst_and_charged_as_it_was(tmp_path: Path) -> None:
    """The reservation is an upper bound in money; the charge is the bill."""
    bank = Bank(tmp_path)
    assert bank.reserve(1).micros == 200
    assert bank.settle(Spent(1, 50, 2, request_id="req")).micros == 70
    assert bank.treasury.ledger.today(bank.clock.now()).micros == 70


def test_a_call_whose_use_nobody_knows_costs_all_that_was_reserved(tmp_path: Path) -> None:
    """No bill is no discount."""
    bank = Bank(tmp_path)
    bank.reserve(1)
    charged = bank.settle(Spent(1, is_known=False, failed=True))
    assert (charged.micros, charged.input_tokens, charged.output_tokens) == (200, 100, 10)


@pytest.mark.parametrize(
    ("caps", "said"),
    [
        (Caps(micros=500), r"\$0\.000500"),
        (Caps(tokens=240), "240 tokens"),
        (Caps(turns=2), "2 turns"),
    ],
)
def test_the_cap_of_a_task_is_never_passed(tmp_path: Path, caps: Caps, said: str) -> None:
    """The third call could pass it and is refused, with the command that raises the cap."""
    bank = Bank(tmp_path, caps=caps)
    bank.reserve(1)
    bank.reserve(2)
    with pytest.raises(BudgetSpent, match=said) as refused:
        bank.reserve(3)
    assert "harness resume t --max-usd" in refused.value.hint
    assert bank.task.calls.used.micros == 400


def test_time_at_work_is_capped_over_processes(tmp_path: Path) -> None:
    """What earlier processes took counts."""
    bank = Bank(tmp_path, caps=Caps(seconds=100))
    bank.clock.sleep(60)
    bank.reserve(1)
    bank.task = apply(bank.task, e.WriterClaimed("again"))
    again = Bank(tmp_path, caps=Caps(seconds=100), clock=bank.clock, task=bank.task)
    assert again.treasury.seconds_left(1800.0) == 40
    again.clock.sleep(41)
    with pytest.raises(BudgetSpent, match="minutes"):
        again.reserve(2)
    with pytest.raises(BudgetSpent):
        again.treasury.seconds_left(1800.0)


def test_one_call_has_a_cap_too(tmp_path: Path) -> None:
    """A single call that could cost more than allowed is refused whatever is left."""
    bank = Bank(tmp_path, budget=Budget(call=Caps(micros=150)))
    with pytest.raises(BudgetSpent, match="budget of the call") as refused:
        bank.reserve(1)
    assert "[budget.call]" in refused.value.hint


def test_the_ledger_knows_how_long_a_call_took(tmp_path: Path) -> None:
    """From the grant to the bill."""
    bank = Bank(tmp_path)
    bank.reserve(1)
    bank.clock.sleep(7)
    bank.settle(Spent(1, 10, 1))
    assert bank.treasury.ledger.today(bank.clock.now()).seconds == 7


def test_an_unknown_price_is_held_by_tokens(tmp_path: Path) -> None:
    """Without a price the money cap cannot see a call, the token cap does."""
    bank = Bank(tmp_path, caps=Caps(micros=1, tokens=300), prices={})
    assert bank.reserve(1).micros is None
    assert bank.settle(Spent(1, 80, 10)).micros is None
    bank.reserve(2)
    with pytest.raises(BudgetSpent, match="tokens"):
        bank.reserve(3)
    assert bank.task.calls.used.unpriced == 2


def test_a_subagent_is_told_once_when_most_is_used(tmp_path: Path) -> None:
    """At four fifths of a cap it is asked to come to an end."""
    bank = Bank(tmp_path, caps=Caps(turns=5))
    for call in (1, 2, 3):
        bank.reserve(call)
    assert bank.treasury.alerts("job") == ()
    bank.reserve(4)
    assert [letter.topic for letter in bank.treasury.alerts("job")] == ["caps"]
    assert bank.treasury.alerts("job") == ()


def test_a_wait_that_a_crash_cut_short_goes_on(tmp_path: Path) -> None:
    """The attempts count, and only the rest is waited for."""
    bank = Bank(tmp_path)
    assert bank.treasury.patience(MODEL) == Patience()
    bank.stumble(1, 4.0)
    bank.stumble(2, 300.0)
    bank.clock.sleep(120)
    assert bank.treasury.patience(MODEL) == Patience(used=2, wait=180.0)
    bank.clock.at = -5000.0
    assert bank.treasury.patience(MODEL).wait == 300.0
    assert bank.treasury.patience("openai:other") == Patience(used=2)


def test_no_wait_is_longer_than_the_time_that_is_left(tmp_path: Path) -> None:
    """A service that asks for an hour parks a task that has ten minutes."""
    bank = Bank(tmp_path, caps=Caps(seconds=600))
    bank.clock.sleep(60)
    assert bank.treasury.patience(MODEL).longest == 540


def test_the_breaker_of_a_service_stops_every_task(tmp_path: Path) -> None:
    """After many failures in a row nothing is sent for a while, by anybody; an answer closes it."""
    bank = Bank(tmp_path)
    for attempt in range(1, FAILURES + 1):
        bank.stumble(attempt, 1.0)
    other = Bank(tmp_path, clock=bank.clock)
    with pytest.raises(ProviderDown, match="left alone until"):
        other.reserve(1)
    bank.clock.sleep(COOLING.total_seconds())
    other.reserve(1)
    other.settle(Spent(1, 10, 1))
    assert other.treasury.breakers.read("chat").failures == 0


def test_a_window_is_the_users_then_the_models_then_a_guess() -> None:
    """What the user says wins; what nobody knows is assumed small."""
    service = Service(base_url="http://127.0.0.1:1/v1", window=4096)
    assert window("tiny:m", service) == 4096
    assert window("tiny:m", replace(service, window=0)) == WINDOW
    assert window("anthropic:claude-opus-5-5", None) > WINDOW


@pytest.mark.parametrize(
    ("room", "answer"), [(4096, 1024), (32_000, 8000), (64_000, 16_000), (10**6, 16_000)]
)
def test_an_answer_fits_the_window(room: int, answer: int) -> None:
    """A small model is not asked for more than a part of what it can read at once."""
    assert longest_answer(room) == answer
