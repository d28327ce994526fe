"""A task: what its facts add up to."""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import reduce

from harness_executor.kernel import events as e
from harness_executor.kernel.amending import Shortfall, amended
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.budget import Caps
from harness_executor.kernel.calls import Calls
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.control import ControlFile
from harness_executor.kernel.events import Fact, StepName
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.offering import Offer, untouched
from harness_executor.kernel.revisions import (
    ScenariosAdded,
    ScenariosAmended,
    ScenariosDisputed,
    ScenariosRequested,
)
from harness_executor.kernel.scenario import Kind, Scenario
from harness_executor.kernel.survey import ChangeSurveyed


@frozen
class Task:
    """The state of one task, folded from its log."""

    id: str = ""
    opened: e.TaskOpened | None = None
    project: e.ProjectRead | None = None
    lessons: tuple[str, ...] = ()
    plan: e.PlanProposed | None = None
    frozen: e.ScenariosFrozen | None = None
    requested: ScenariosRequested | None = None
    added: ScenariosAdded | None = None
    disputed: ScenariosDisputed | None = None
    amended: ScenariosAmended | None = None
    approved: bool = False
    changes: tuple[e.ChangeMade, ...] = ()
    pending: e.ChangeMade | None = None
    """A change that was made and not yet committed."""
    commits: tuple[e.PhaseExecuted, ...] = ()
    approved_tree: str = ""
    """The tree a person approved last."""
    approved_tests: tuple[str, ...] = ()
    """What a person allowed the tree to do to tests, and its author to choose."""
    phases_done: int = 0
    checkpoints: tuple[e.PhaseCheckpointed, ...] = ()
    validated: e.Validated | None = None
    verified: e.Verified | None = None
    surveyed: ChangeSurveyed | None = None
    review: e.FindingsReported | None = None
    judged: e.GateJudged | None = None
    presented: bool = False
    pause: e.TaskPaused | None = None
    closed: e.TaskClosed | None = None
    running: e.StepStarted | None = None
    """A step that started and has not ended."""
    tries: Mapping[StepName, int] = field(default_factory=dict)
    """How often each step started since it last succeeded."""
    setbacks: Mapping[StepName, int] = field(default_factory=dict)
    """How often validation or verification sent the work back."""
    feedback: tuple[str, ...] = ()
    """What the executor has to mend."""
    missed: Mapping[str, int] = field(default_factory=dict)
    """How often each scenario was found missing on the change."""
    failure: e.StepFailed | None = None
    assurance: Assurance = Assurance.SANDBOXED
    """The least that any of its subagents worked with: one without a box could reach everything."""
    calls: Calls = field(default_factory=Calls)
    """What its model calls used and met."""
    caps: Caps = field(default_factory=Caps)
    """What it may use."""

    @property
    def paused(self) -> str:
        """What the task waits for, or nothing."""
        return self.pause.reason if self.pause else ""

    @property
    def total_phases(self) -> int:
        """How many phases the task has."""
        if self.plan is not None:
            return len(self.plan.phases)
        return self.opened.phases if self.opened else 1

    @property
    def base_commit(self) -> str:
        """The commit the change is made on."""
        return self.opened.base_commit if self.opened else ""

    @property
    def base_tree(self) -> str:
        """The tree of the base commit."""
        return self.opened.base_tree if self.opened else ""

    @property
    def tree(self) -> str:
        """The tree of the last commit, or of the base."""
        return self.commits[-1].tree if self.commits else self.base_tree

    @property
    def control(self) -> tuple[ControlFile, ...]:
        """The control files that the tree has and the base has not so."""
        made = (change.control for change in reversed(self.changes) if change.tree == self.tree)
        return next(made, ())

    @property
    def unapproved(self) -> tuple[ControlFile, ...]:
        """The control files nobody approved in this tree."""
        return () if self.approved_tree == self.tree else self.control

    @property
    def questions(self) -> tuple[str, ...]:
        """What the tree does to tests and nobody allowed."""
        results = self.validated.results if self.validated else ()
        allowed = self.approved_tests if self.approved_tree == self.tree else ()
        asked = (question for result in results for question in result.questions)
        return tuple(question for question in asked if question not in allowed)

    @property
    def agreed(self) -> tuple[Scenario, ...]:
        """The scenarios as they were frozen, and those that were added for what the plan could not know."""
        frozen = self.frozen.scenarios if self.frozen else ()
        return (*frozen, *self.added.scenarios) if self.added else frozen

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """What the change is recognised by: as it was agreed on, or amended once."""
        return amended(self.agreed, self.amended.rulings) if self.amended else self.agreed

    @property
    def scenario_digest(self) -> str:
        """The digest of the scenarios as they stand; empty when none were frozen."""
        if self.amended:
            return self.amended.digest
        if self.added and self.added.scenarios:
            return self.added.whole
        return self.frozen.digest if self.frozen else ""

    @property
    def untouched(self) -> tuple[Offer, ...]:
        """What the change offers beyond the frozen scenarios, while more may be asked for: once."""
        if self.added or self.disputed or self.frozen is None or (self.opened and self.opened.refactor):
            return ()
        if self.requested:
            return self.requested.untouched
        made = (change.offers for change in reversed(self.changes) if change.tree == self.tree)
        return untouched(next(made, ()), self.frozen.scenarios)

    @property
    def must_run(self) -> bool:
        """Do the scenarios promise that a client sees something, new or unchanged by a refactoring?"""
        kinds = {scenario.kind for scenario in self.scenarios}
        refactors = bool(kinds and self.opened and self.opened.refactor)
        return refactors or not kinds.isdisjoint((Kind.NEW, Kind.CHANGED))

    @property
    def unrun(self) -> str:
        """Why it is complete and unverified, or nothing."""
        passed = self.judged is not None and self.judged.unverified
        return self.surveyed.reason if passed and self.surveyed else ""

    @property
    def contested(self) -> tuple[Shortfall, ...]:
        """Scenarios to be looked at again, once: the executor disputes them, or missed them twice."""
        if self.disputed is not None:
            return () if self.amended else self.disputed.missed
        if self.tree == self.base_tree:
            return ()  # nothing was made: nobody has to ask why it does nothing
        said = bool(self.changes and self.changes[-1].disputes)
        missing = self.verified.missing if self.verified and self.frozen else ()
        return tuple(short for short in missing if said or self.missed.get(short.scenario, 0) > 1)

    @property
    def head(self) -> str:
        """The last commit of the task, or the base."""
        return self.commits[-1].commit if self.commits else self.base_commit

    @property
    def status(self) -> e.Status:
        """How the task stands."""
        if self.closed:
            return self.closed.status
        return e.Status.BLOCKED if self.pause else e.Status.IN_PROGRESS

    def attempt(self, step: StepName) -> int:
        """The number the next attempt at a step has."""
        return self.tries.get(step, 0) + 1


def closing(task: Task, status: e.Status, summary: str) -> e.TaskClosed:
    """The fact that ends a task, with what it touched and taught."""
    results = task.validated.results if task.validated else ()
    return e.TaskClosed(
        status,
        summary,
        files_changed=all_of(task, "files_changed"),
        files_created=all_of(task, "files_created"),
        lessons=tuple(dict.fromkeys(lesson for change in task.changes for lesson in change.lessons)),
        validation={result.name: "fail" if result.blocks else "pass" for result in results},
    )


def all_of(task: Task, name: str) -> tuple[str, ...]:
    """The files of every change and checkpoint, each once, in order."""
    named = [path for source in (*task.changes, *task.checkpoints) for path in getattr(source, name)]
    return tuple(dict.fromkeys(named))


def replay(facts: Iterable[Fact]) -> Task:
    """The task these facts add up to."""
    return reduce(apply, facts, Task())


def apply(task: Task, fact: Fact) -> Task:
    """The task after one more fact."""
    match fact:
        case e.StepStarted() | e.StepFailed() | e.TaskPaused() | e.TaskResumed() | e.Presented():
            return _progress(task, fact)
        case e.ChangeMade() | e.ChangeApproved() | e.PhaseExecuted() | e.PhaseCheckpointed():
            return _work(task, fact)
        case e.Validated() | e.Verified() | ChangeSurveyed():
            return _work(task, fact)
        case e.PlanProposed() | e.PlanApproved() | e.ScenariosFrozen():
            return _planned(task, fact)
        case ScenariosDisputed() | ScenariosAmended() | ScenariosRequested() | ScenariosAdded():
            return _planned(task, fact)
        case e.AgentAsked(assurance=Assurance.UNSANDBOXED):
            return replace(task, assurance=Assurance.UNSANDBOXED)
        case e.TailCut() | e.AgentAsked() | e.SideRecorded():
            return task
        case e.CallReserved() | e.CallCharged() | e.CallStumbled() | e.WriterClaimed():
            return replace(task, calls=task.calls.after(fact))
    return _outcome(task, fact)


def _progress(task: Task, fact: Fact) -> Task:
    match fact:
        case e.StepStarted():
            tries = {**task.tries, fact.step: task.tries.get(fact.step, 0) + 1}
            return replace(task, running=fact, tries=tries)
        case e.StepFailed():
            return replace(task, running=None, failure=fact)
        case e.TaskPaused():
            return replace(task, pause=fact, running=None)
        case e.TaskResumed():
            sent_on = replace(task, pause=None, failure=None, tries={}, caps=task.caps.overridden(fact.caps))
            return replace(sent_on, calls=task.calls.after(fact))
        case _:
            return replace(_ended(task, StepName.PRESENT), presented=True)


def _work(task: Task, fact: Fact) -> Task:
    match fact:
        case e.ChangeMade():
            return replace(task, pending=fact, changes=(*task.changes, fact))
        case e.PhaseExecuted():
            commits = task.commits if fact.commit == task.head else (*task.commits, fact)
            done = max(task.phases_done, fact.phase)
            ended = _ended(task, StepName.EXECUTE)
            fresh = replace(ended, pending=None, feedback=(), validated=None, verified=None)
            return replace(fresh, surveyed=None, commits=commits, phases_done=done)
        case e.ChangeApproved():
            kept = task.approved_tests if task.approved_tree == fact.tree else ()
            return replace(task, approved_tree=fact.tree, approved_tests=(*kept, *fact.tests))
        case e.PhaseCheckpointed():
            return replace(task, checkpoints=(*task.checkpoints, fact), phases_done=fact.phase)
        case e.Validated():
            blocking = tuple(_complain(result) for result in fact.results if result.blocks)
            return _sent_back(
                replace(_ended(task, StepName.VALIDATE), validated=fact), StepName.VALIDATE, blocking
            )
        case e.Verified():
            names = [short.scenario for short in fact.missing]
            missed = {**task.missed, **{name: task.missed.get(name, 0) + 1 for name in names}}
            seen = replace(_ended(task, StepName.VERIFY), verified=fact, missed=missed)
            return _sent_back(seen, StepName.VERIFY, fact.failed)
        case ChangeSurveyed():
            return replace(_ended(task, StepName.VERIFY), surveyed=fact)
    return task


def _planned(task: Task, fact: Fact) -> Task:
    match fact:
        case e.PlanProposed():
            return replace(task, plan=fact)
        case e.ScenariosFrozen():
            return replace(task, frozen=fact)
        case ScenariosRequested():
            return replace(task, requested=fact)
        case ScenariosAdded():
            return replace(_ended(task, StepName.EXTEND), added=fact)
        case ScenariosDisputed():
            return replace(task, disputed=fact)
        case ScenariosAmended():
            return _amended(task, fact)
    return replace(_ended(task, StepName.PLAN), approved=True)


def _outcome(task: Task, fact: Fact) -> Task:
    match fact:
        case e.TaskOpened():
            return replace(task, id=fact.task_id, opened=fact, caps=fact.caps)
        case e.ProjectRead():
            return replace(task, project=fact)
        case e.LessonsFound():
            return replace(_ended(task, StepName.SETUP), lessons=fact.lessons)
        case e.FindingsReported():
            return replace(_ended(task, StepName.REVIEW), review=fact)
        case e.GateJudged():
            return replace(_ended(task, StepName.RECORD), judged=fact)
        case e.TaskClosed():
            return replace(task, closed=fact, running=None)
    raise TypeError(f"{type(fact).__name__} is not a fact the task knows")


def _amended(task: Task, fact: ScenariosAmended) -> Task:
    """Amended scenarios are tried on the same tree; upheld ones go back with the words that ask for them."""
    ruled = replace(_ended(task, StepName.AMEND), amended=fact)
    if fact.digest != fact.original:
        return replace(ruled, verified=None, feedback=())
    upheld = tuple(
        f"{ruling.scenario}: the verifier upholds it, as this asks for it: {ruling.quote}"
        for ruling in fact.rulings
    )
    return replace(ruled, feedback=(*task.feedback, *upheld))


def _ended(task: Task, step: StepName) -> Task:
    return replace(task, running=None, failure=None, tries={**task.tries, step: 0})


def _sent_back(task: Task, step: StepName, feedback: tuple[str, ...]) -> Task:
    if not feedback:
        return task
    setbacks = {**task.setbacks, step: task.setbacks.get(step, 0) + 1}
    return replace(task, setbacks=setbacks, feedback=feedback)


def _complain(result: CheckResult) -> str:
    new = "".join(f"\n- {finding}" for finding in result.findings if finding.blocks)
    return (
        f"`{result.command}` ({result.name}) passes on base and fails on your change:{new}\n{result.output}"
    )
