"""May a model call be made, and what did it cost?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from harness_executor.clock import Clock
from harness_executor.errors import BudgetSpent, ProviderDown
from harness_executor.kernel.budget import ALERT, Amount, Budget, passed, share
from harness_executor.kernel.events import CallCharged, CallReserved, CallStumbled
from harness_executor.kernel.retries import Policy
from harness_executor.kernel.task import Task
from harness_executor.providers import prices
from harness_executor.providers.base import Patience, Usage
from harness_executor.providers.registry import split
from harness_executor.store.breakers import Breakers
from harness_executor.store.ledger import Entry, Ledger
from harness_executor.subagents.jobs import Job, Spent, Stumbled, Wants
from harness_executor.subagents.mailbox import Letter, LetterKind, Priority
from harness_executor.tables import Service

WINDOW = 128_000
"""Tokens a model can read at once when nobody knows better."""


@dataclass
class Treasury:
    """Guards the money of one task; what it grants is written down before anything is sent."""

    task: Callable[[], Task]
    """The task as its log has it now."""
    budget: Budget
    ledger: Ledger
    breakers: Breakers
    clock: Clock
    prices: Mapping[str, prices.Price]
    began: float
    """When this process took the task."""
    attempts: int = Policy.attempts
    """How often one call is sent at the most."""
    alerted: set[str] = field(default_factory=set)
    sent: dict[str, float] = field(default_factory=dict)
    """When each open call was granted."""

    def reserve(self, job: str, model: str, wants: Wants) -> CallReserved:
        """The reservation of a call; refuses one that could pass any cap."""
        self._refuse_broken(model)
        task = self.task()
        micros = prices.worst(model, wants.input_tokens, wants.output_tokens, self.prices)
        tokens = wants.input_tokens + wants.output_tokens
        elapsed = self.clock.monotonic() - self.began
        more = Amount(micros or 0, tokens, 1, 0.0, int(micros is None))
        used = replace(task.calls.used, seconds=task.calls.seconds_before + elapsed)
        _refuse_call(passed(self.budget.call, more))
        _refuse_task(passed(task.caps, used.plus(more)), task.id)
        entry = Entry(f"{task.id}/{job}/{wants.call}", self.ledger.night, micros, tokens)
        self.ledger.reserve(entry, self.budget, self.clock.now())
        self.sent[entry.id] = self.clock.monotonic()
        return CallReserved(job, wants.call, model, wants.input_tokens, wants.output_tokens, micros, elapsed)

    def settle(self, job: str, model: str, spent: Spent) -> CallCharged:
        """What a call came to; one whose use nobody knows costs all that was reserved."""
        task = self.task()
        reserved = task.calls.open[f"{job}/{spent.call}"]
        read, written, micros = spent.input_tokens, spent.output_tokens, reserved.micros
        if spent.is_known:
            usage = Usage(read, written, spent.cache_read, spent.cache_write)
            micros = prices.price(model, usage, self.prices)
        else:
            read, written = reserved.input_tokens, reserved.output_tokens
        name = f"{task.id}/{job}/{spent.call}"
        took = self.clock.monotonic() - self.sent.pop(name)
        bill = Entry(name, self.ledger.night, micros, read + written, round(took, 3), is_settled=True)
        self.ledger.settle(bill, self.clock.now())
        if not spent.failed:
            self.breakers.worked(split(model)[0])
        return CallCharged(
            job,
            spent.call,
            model,
            read,
            written,
            micros=micros,
            cache_read=spent.cache_read,
            cache_write=spent.cache_write,
            failed=spent.failed,
            request_id=spent.request_id,
            record=spent.record,
        )

    def stumbled(self, job: str, model: str, stumble: Stumbled) -> CallStumbled:
        """A failed attempt, counted against its service."""
        now = self.clock.now()
        self.breakers.failed(split(model)[0], now)
        return CallStumbled(
            job,
            stumble.call,
            stumble.attempt,
            model,
            stumble.status,
            stumble.request_id,
            stumble.why,
            stumble.wait,
            now.isoformat(),
        )

    def alerts(self, job: str) -> tuple[Letter, ...]:
        """A word to a subagent, once, when the task's budget is nearly used."""
        task = self.task()
        if job in self.alerted or share(task.caps, task.calls.used) < ALERT:
            return ()
        self.alerted.add(job)
        text = "Most of this task's budget is used. Finish what you began and submit your result."
        return (Letter(f"{job}-caps", text, kind=LetterKind.ALERT, priority=Priority.HIGH, topic="caps"),)

    def patience(self, model: str) -> Patience:
        """How a call to a model is tried again; attempts and waits before a crash count."""
        failed, longest = self.task().calls.stumbles, self.seconds_left(Patience.longest)
        if not failed:
            return Patience(self.attempts, longest)
        last = failed[-1]
        if split(last.model)[0] != split(model)[0]:  # another service owes nothing, and gets no more attempts
            return Patience(self.attempts, longest, last.attempt)
        waited = (self.clock.now() - datetime.fromisoformat(last.at)).total_seconds()
        left = min(max(last.wait - waited, 0.0), last.wait)
        return Patience(self.attempts, longest, last.attempt, left)

    def seconds_left(self, most: float) -> float:
        """The time a job may take."""
        task = self.task()
        if task.caps.seconds is None:
            return most
        here = self.clock.monotonic() - self.began
        left = task.caps.seconds - task.calls.seconds_before - here
        if left <= 0:
            _refuse_task(passed(task.caps, Amount(seconds=task.calls.seconds_before + here)), task.id)
        return min(most, left)

    def _refuse_broken(self, model: str) -> None:
        service = split(model)[0]
        until = self.breakers.read(service).open_until(self.clock.now())
        if until is not None:
            raise ProviderDown(
                f"{service} failed many times in a row and is left alone until {until:%H:%M:%S} UTC",
                hint="`harness resume` tries it again at once",
            )


def window(model: str, service: Service | None) -> int:
    """Tokens a model can read at once, as far as anybody knows."""
    if service is not None and service.window:
        return service.window
    return prices.window(model) or WINDOW


def longest_answer(room: int) -> int:
    """Tokens of one answer; some services refuse a request whose answer might not fit the window."""
    return min(Job.max_tokens, room // 4)


def _refuse_call(why: str) -> None:
    if why:
        raise BudgetSpent(
            f"the budget of the call is {why}",
            hint="raise [budget.call] in your config.toml, then `harness resume`; nothing is lost",
        )


def _refuse_task(why: str, task_id: str) -> None:
    if why:
        raise BudgetSpent(
            f"the budget of the task is {why}",
            hint=f"raise the cap and go on: `harness resume {task_id} --max-usd 20` "
            "(or --max-tokens, --max-turns, --max-minutes); nothing is lost",
        )
