"""A world for the kernel: what steps would write down, without doing anything."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from harness_executor.kernel import events as e
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.events import Fact, StepName
from harness_executor.kernel.failures import FailureClass
from harness_executor.kernel.policy import Close, Do, Pause, decide
from harness_executor.kernel.retries import Policy
from harness_executor.kernel.revisions import ScenariosAmended, ScenariosDisputed
from harness_executor.kernel.task import Task, apply
from tests.kernel.examples import BASE, BASE_TREE, EVIDENCE, SCENARIO, SHORT, TASK_ID

MOST = 500
"""More decisions than any task can need."""


class Ends(StrEnum):
    """How a step ends."""

    WELL = "well"
    FAILED = "failed"
    HOPELESS = "hopeless"
    INTERRUPTED = "interrupted"
    SENT_BACK = "sent back"


Fate = Callable[[StepName, int], Ends]
"""How the nth start of a step ends."""


@dataclass
class World:
    """A task in a world where every step ends as it is fated to."""

    fate: Fate
    mode: e.Mode = e.Mode.IMPLEMENT
    phases: int = 1
    policy: Policy = field(default_factory=Policy)
    facts: list[Fact] = field(default_factory=list)
    done: list[Do] = field(default_factory=list)

    def run(self) -> Close | Pause:
        """Ask, do and write down until there is nothing more to do."""
        task = self._write(
            Task(), e.TaskOpened(TASK_ID, "count", self.mode, e.Driver.RUNNER, BASE, BASE_TREE)
        )
        for _ in range(MOST):
            decision = decide(task, self.policy)
            if not isinstance(decision, Do):
                return decision
            self.done.append(decision)
            task = self._write(task, e.StepStarted(decision.step, decision.attempt, decision.phase))
            for fact in self._take(task, decision):
                task = self._write(task, fact)
        raise AssertionError(f"the task never ended: {self.starts()}")

    def starts(self) -> dict[StepName, int]:
        """How often each step was started."""
        return {step: sum(do.step is step for do in self.done) for step in StepName}

    def _write(self, task: Task, fact: Fact) -> Task:
        self.facts.append(fact)
        return apply(task, fact)

    def _take(self, task: Task, do: Do) -> Iterator[Fact]:
        match self.fate(do.step, self.starts()[do.step]):
            case Ends.FAILED:
                yield e.StepFailed(do.step, FailureClass.AGENT, "no answer")
            case Ends.HOPELESS:
                yield e.StepFailed(do.step, FailureClass.ENVIRONMENT, "no disk")
            case Ends.SENT_BACK:
                yield from _sent_back(task, do, self.phases)
            case Ends.WELL:
                yield from _well(task, do, self.phases)


def _well(task: Task, do: Do, phases: int) -> Iterator[Fact]:
    tree = f"{len(task.commits) + 1:040}"
    match do.step:
        case StepName.SETUP:
            yield e.ProjectRead("python app.py", {})
            yield e.LessonsFound(())
        case StepName.PLAN:
            yield e.PlanProposed("count them", tuple(e.Phase(f"p{n}", "") for n in range(phases)), "")
            yield e.ScenariosFrozen((SCENARIO,), "d" * 64)
            yield e.PlanApproved("policy")
        case StepName.EXECUTE:
            yield e.ChangeMade(do.phase, do.attempt, tree, "", f"change {tree[-2:]}", ("app.py",), ())
            yield e.PhaseExecuted(do.phase, tree, f"commit-{tree}")
        case StepName.VALIDATE:
            yield e.Validated(task.tree, ())
        case StepName.VERIFY:
            yield e.Verified(replace(EVIDENCE, tree=task.tree))
        case StepName.AMEND:
            yield ScenariosDisputed(task.contested)
            yield ScenariosAmended("d" * 64, "d" * 64, ())
        case StepName.REVIEW:
            yield e.FindingsReported("nothing found", ())
        case StepName.RECORD:
            reasons = task.feedback
            yield e.GateJudged(not reasons, reasons)
        case StepName.PRESENT:
            yield e.Presented("summary.md")


def _sent_back(task: Task, do: Do, phases: int) -> Iterator[Fact]:
    match do.step:
        case StepName.VALIDATE:
            yield e.Validated(task.tree, (CheckResult("test", "pytest", True, False, "1 failed"),))
        case StepName.VERIFY:
            yield e.Verified(replace(EVIDENCE, tree=task.tree), ("missing: items are counted",), (SHORT,))
        case StepName.AMEND:
            yield ScenariosDisputed(task.contested)
            yield ScenariosAmended("d" * 64, "a" * 64, ())
        case _:
            yield from _well(task, do, phases)
