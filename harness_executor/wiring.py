"""The composition root: builds the objects of a run and binds them together."""

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from harness_executor import faults
from harness_executor.config import Settings, state_home
from harness_executor.coordinator import Coordinator
from harness_executor.evidence.suite import kept
from harness_executor.home import Home
from harness_executor.kernel.budget import Caps
from harness_executor.kernel.events import Fact, StepName, TaskOpened, TaskResumed
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.retries import Policy
from harness_executor.kernel.task import Task
from harness_executor.providers.prices import Price
from harness_executor.providers.registry import split
from harness_executor.sandbox.choice import Boxing, choose
from harness_executor.steps import (
    amend,
    execute,
    extend,
    plan,
    present,
    record,
    review,
    setup,
    validate,
    verify,
)
from harness_executor.steps.means import Means
from harness_executor.steps.treasury import Treasury
from harness_executor.store.breakers import Breakers
from harness_executor.store.cleaning import clean_files
from harness_executor.store.ledger import Ledger
from harness_executor.store.log import Log
from harness_executor.store.memory import Memory
from harness_executor.subagents.cradle import NurseryCradle
from harness_executor.subagents.spawn import Agents
from harness_executor.workspace.export import Desk

STEPS = {
    StepName.SETUP: setup.run,
    StepName.PLAN: plan.run,
    StepName.EXECUTE: execute.run,
    StepName.VALIDATE: validate.run,
    StepName.VERIFY: verify.run,
    StepName.EXTEND: extend.run,
    StepName.AMEND: amend.run,
    StepName.REVIEW: review.run,
    StepName.RECORD: record.run,
    StepName.PRESENT: present.run,
}


class Audience(Protocol):
    """Who is told what happens while it happens."""

    def fact(self, fact: Fact) -> None:
        """Something was written down."""
        ...

    def note(self, text: str) -> None:
        """Something is being done."""
        ...


@frozen
class Run:
    """How a task is run: the user's settings, and who is told."""

    home: Home
    settings: Settings
    audience: Audience
    chosen: list[Boxing] = field(default_factory=list)
    """How commands are boxed, once it was tried."""

    def begin(self, opened: TaskOpened) -> Task:
        """Open a task and run it."""
        self.boxing()
        with self.home.hold(opened.task_id) as log:
            log.append(opened)
            return self._go(log)

    def resume(self, task_id: str, caps: Caps) -> Task:
        """Go on with a task where its log ends, perhaps with other caps."""
        self.home.records(task_id)
        self.boxing()
        is_ours = self.home.witness(task_id).has_seen()
        with self.home.hold(task_id) as log:
            wanted = self._allowed(log.task, is_ours=is_ours).overridden(caps)
            if log.task.pause or (wanted != log.task.caps and log.task.closed is None):
                log.append(TaskResumed("user", wanted))
                for service in self._providers(log.task):
                    self._breakers().worked(service)
            return self._go(log)

    def boxing(self) -> Boxing:
        """How commands are boxed; refuses when the machine has no box and the user did not do without."""
        if not self.chosen:
            self.chosen.append(choose(self.settings, self.home.repository.root))
        return self.chosen[0]

    def _allowed(self, task: Task, *, is_ours: bool) -> Caps:
        """The caps of a task; a log that this machine did not write cannot raise the user's."""
        mine = self.settings.budget.task
        return mine.overridden(task.caps) if is_ours else task.caps.narrowed(mine)

    def _go(self, log: Log) -> Task:
        with self.home.task_desk(log.task.id) as desk:
            return self._work(log, desk)

    def _work(self, log: Log, desk: Desk) -> Task:
        providers = self._providers(log.task)
        cradle = NurseryCradle(providers, desk.path / "scratch", self.settings.services)
        if log.task.closed is None:
            cradle.warm_up()
        means = self._means(desk, Agents(self.home.clock, cradle), self._treasury(log))
        steps = {name: partial(run, means=means) for name, run in STEPS.items()}
        publishing: Callable[[Task], None] = lambda _task: self.home.publish(log)  # noqa: E731 - one line of glue
        try:
            task = Coordinator(log, steps, means.policy, self.audience.fact, publishing).run()
        finally:
            cradle.close()
            clean_files(_left_by_programs(desk), self.home.redactor)
        if task.closed:
            if task.judged and task.judged.accepted:
                kept(self.home.layout.harness, task.id, task.head, task.scenarios)
            desk.clear()
            faults.point("desk.cleared")
        return task

    def _providers(self, task: Task) -> tuple[str, ...]:
        models = task.opened.models if task.opened and task.opened.models else self.settings.models
        return tuple(sorted({split(model)[0] for model in models.values()}))

    def _treasury(self, log: Log) -> Treasury:
        return Treasury(
            task=lambda: log.task,
            budget=self.settings.budget,
            ledger=Ledger(state_home() / "ledger", self.settings.night),
            breakers=self._breakers(),
            clock=self.home.clock,
            prices={model: Price(**price) for model, price in self.settings.prices.items()},
            began=self.home.clock.monotonic(),
            attempts=self.settings.caps.get("attempts", Policy.attempts),
        )

    def _breakers(self) -> Breakers:
        return Breakers(state_home() / "breakers")

    def _means(self, desk: Desk, agents: Agents, treasury: Treasury) -> Means:
        return Means(
            layout=self.home.layout,
            desk=desk,
            sandbox=self.boxing().sandbox(),
            clock=self.home.clock,
            agents=agents,
            memory=Memory(self.home.layout),
            seal=self.home.seal,
            treasury=treasury,
            settings=self.settings,
            policy=replace(Policy(), **self.settings.caps),
            notify=self.audience.note,
            redactor=self.home.redactor,
            boxing=replace(self.boxing(), hosts=()),
            written=self.home.written,
        )


def _left_by_programs(desk: Desk) -> Iterator[Path]:
    """What subagents, commands and servers said, where a task that is not closed keeps it."""
    for pattern in ("scratch/**/*", "verify/*.log", "validate/*.log"):
        yield from desk.path.glob(pattern)
