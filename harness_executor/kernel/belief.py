"""Does a log bear out what it says of itself?"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness_executor.kernel.events import (
    ChangeApproved,
    Driver,
    Fact,
    GateJudged,
    Mode,
    ScenariosFrozen,
    Status,
    TaskClosed,
    TaskOpened,
)
from harness_executor.kernel.gate import Claim, judge
from harness_executor.kernel.report import Evidence
from harness_executor.kernel.task import Task, replay

Fits = Callable[[Evidence | ChangeApproved | None], bool]
"""Was this sealed here?"""

_COMPLETE = (Status.COMPLETED, Status.COMPLETED_UNVERIFIED)
_ONCE = {TaskOpened: "opens its task", ScenariosFrozen: "freezes the scenarios"}


def unearned(task_id: str, facts: Sequence[Fact], fits: Fits) -> str:
    """What the log of a task says and cannot know, or nothing."""
    task = replay(facts)
    if task.id not in ("", task_id):
        return f"is the log of another task: {task.id}"
    for kind, what in _ONCE.items():
        if sum(isinstance(fact, kind) for fact in facts) > 1:
            return f"{what} twice"
    for number, fact in enumerate(facts):
        if isinstance(fact, GateJudged) and fact.accepted and not _is_proved(replay(facts[:number]), fits):
            return "says that the gate accepted, and its evidence does not bear that out"
        if isinstance(fact, ChangeApproved) and not (fact.task_id == task_id and fits(fact)):
            return "says that a person approved the change, and nobody did so here"
        if _completes(fact, task) and not _was_accepted(replay(facts[:number])):
            return "says completed, and the gate did not accept"
    return ""


def claim_of(task: Task) -> Claim:
    """What the task wants to call complete."""
    results = task.validated.results if task.validated else ()
    return Claim(
        task_id=task.id,
        base_commit=task.base_commit,
        base_tree=task.base_tree,
        tree=task.tree,
        scenario_digest=task.frozen.digest if task.frozen else "",
        refactor=bool(task.opened and task.opened.refactor),
        checks_failed=tuple(result.name for result in results if result.blocks),
        control=_unapproved(task),
        remarks=tuple(
            f"the executor wrote {path} itself; only what the harness recorded counts"
            for path in dict.fromkeys(path for change in task.changes for path in change.own_reports)
        ),
    )


def _unapproved(task: Task) -> tuple[str, ...]:
    """As the log and the sealed evidence say; a person or agent at the project itself is not asked again."""
    by_agent = task.opened is not None and task.opened.driver is Driver.SKILL
    if by_agent or (task.tree and task.approved_tree == task.tree):
        return ()
    seen = task.verified.evidence.control if task.verified else ()
    return tuple(dict.fromkeys(file.path for file in (*task.control, *seen)))


def _is_proved(task: Task, fits: Fits) -> bool:
    evidence = task.verified.evidence if task.verified else None
    claim = claim_of(task)
    if evidence and task.opened and task.opened.driver is Driver.SKILL:
        claim = replace(claim, tree=evidence.tree)  # the log does not know the working tree of that day
    return judge(claim, evidence, seal_is_valid=fits(evidence)).accepted


def _completes(fact: Fact, task: Task) -> bool:
    implements = task.opened is None or task.opened.mode is Mode.IMPLEMENT
    return isinstance(fact, TaskClosed) and fact.status in _COMPLETE and implements


def _was_accepted(task: Task) -> bool:
    return task.judged is not None and task.judged.accepted
