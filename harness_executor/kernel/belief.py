"""Does a log bear out what it says of itself?"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness_executor.kernel.amending import amended, problem_of_rulings
from harness_executor.kernel.choices import is_agents, unallowed
from harness_executor.kernel.events import (
    ChangeApproved,
    Fact,
    GateJudged,
    Mode,
    ScenariosFrozen,
    Status,
    TaskClosed,
    TaskOpened,
)
from harness_executor.kernel.gate import Claim, Verdict, judge, judge_unrun
from harness_executor.kernel.report import Evidence
from harness_executor.kernel.revisions import (
    ScenariosAdded,
    ScenariosAmended,
    ScenariosDisputed,
    ScenariosRequested,
)
from harness_executor.kernel.scenario import problem_of, scenarios_digest
from harness_executor.kernel.survey import ChangeSurveyed
from harness_executor.kernel.task import Task, replay

Fits = Callable[[Evidence | ChangeApproved | ChangeSurveyed | None], bool]
"""Was this sealed here?"""

_COMPLETE = (Status.COMPLETED, Status.COMPLETED_UNVERIFIED)
_ONCE = {
    TaskOpened: "opens its task",
    ScenariosFrozen: "freezes the scenarios",
    ScenariosRequested: "asks for more scenarios",
    ScenariosAdded: "adds scenarios",
    ScenariosDisputed: "disputes the scenarios",
    ScenariosAmended: "amends the scenarios",
}
_WEIGHTY = (GateJudged, ScenariosAdded, ScenariosAmended, TaskClosed)


def unearned(task_id: str, facts: Sequence[Fact], fits: Fits) -> str:
    """What the log of a task says and cannot know, or nothing."""
    task = replay(facts)
    if task.id not in ("", task_id):
        return f"is the log of another task: {task.id}"
    for kind, what in _ONCE.items():
        if sum(isinstance(fact, kind) for fact in facts) > 1:
            return f"{what} twice"
    for number, fact in enumerate(facts):
        if isinstance(fact, ChangeApproved) and not (fact.task_id == task_id and fits(fact)):
            return "says that a person approved the change, and nobody did so here"
        problem = _ahead(fact, replay(facts[:number]), fits) if isinstance(fact, _WEIGHTY) else ""
        if problem:
            return problem
    return ""


def _ahead(fact: Fact, before: Task, fits: Fits) -> str:
    """What a fact says that those before it do not bear out."""
    match fact:
        case GateJudged(accepted=True) if not _is_proved(before, fits):
            return "says that the gate accepted, and its evidence does not bear that out"
        case GateJudged(unverified=True) if not _is_unrun(before, fact, fits):
            return "says that there was nothing to run, and the harness did not find so"
        case ScenariosAdded() if not _is_addition(before, fact):
            return "adds scenarios in a way that nobody may"
        case ScenariosAmended() if not _is_fair(before, fact):
            return "amends the scenarios in a way that nobody may"
        case TaskClosed() if _completes(fact, before) and not _was_judged(before, fact):
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
        scenario_digest=task.scenario_digest,
        amended=_amended(task),
        added=tuple(scenario.name for scenario in task.added.scenarios) if task.added else (),
        refactor=bool(task.opened and task.opened.refactor),
        checks=results,
        tests_allowed=task.approved_tests if task.approved_tree == task.tree else (),
        control=_unapproved(task),
        remarks=tuple(
            f"the executor wrote {path} itself; only what the harness recorded counts"
            for path in dict.fromkeys(path for change in task.changes for path in change.own_reports)
        ),
    )


def _amended(task: Task) -> tuple[str, ...]:
    rulings = task.amended.rulings if task.amended else ()
    return tuple(ruling.scenario for ruling in rulings if ruling.amended is not None)


def _is_fair(task: Task, fact: ScenariosAmended) -> bool:
    if task.frozen is None or task.disputed is None or task.judged is not None:
        return False
    agreed = task.agreed
    digests = (scenarios_digest(agreed), scenarios_digest(amended(agreed, fact.rulings)))
    fair = not problem_of_rulings(agreed, task.disputed.missed, fact.rulings)
    return fair and digests == (fact.original, fact.digest)


def _is_addition(task: Task, fact: ScenariosAdded) -> bool:
    """Was it asked for before anything was disputed or judged, and do the frozen ones stay as they are?"""
    if task.frozen is None or task.requested is None or task.disputed or task.judged:
        return False
    whole = (*task.frozen.scenarios, *fact.scenarios)
    digests = (scenarios_digest(fact.scenarios), scenarios_digest(whole))
    usable = not fact.scenarios or not problem_of(whole)
    return usable and digests == (fact.digest, fact.whole)


def _unapproved(task: Task) -> tuple[str, ...]:
    """As the log and the sealed evidence say; a person or agent at the project itself is not asked again."""
    if is_agents(task) or (task.tree and task.approved_tree == task.tree):
        return ()
    seen = task.verified.evidence.control if task.verified else ()
    return tuple(dict.fromkeys(file.path for file in (*task.control, *seen)))


def verdict_of(task: Task, claim: Claim, fits: Fits) -> Verdict:
    """The gate's answer: by what was run or, if nothing was, by the survey that found nothing to run."""
    evidence = task.verified.evidence if task.verified else None
    if task.surveyed is not None and (evidence is None or evidence.tree != claim.tree):
        return judge_unrun(claim, task.surveyed, seal_is_valid=fits(task.surveyed))
    return judge(claim, evidence, seal_is_valid=fits(evidence))


def _is_proved(task: Task, fits: Fits) -> bool:
    evidence = task.verified.evidence if task.verified else None
    claim = _claim_of_that_day(task, evidence.tree if evidence else "")
    return judge(claim, evidence, seal_is_valid=fits(evidence)).accepted and not unallowed(task)


def _is_unrun(task: Task, fact: GateJudged, fits: Fits) -> bool:
    if task.surveyed is None or fact.accepted or task.must_run:
        return False
    claim = _claim_of_that_day(task, task.surveyed.tree)
    return verdict_of(task, claim, fits).unverified


def _claim_of_that_day(task: Task, tree: str) -> Claim:
    claim = claim_of(task)
    # the log does not know the working tree of an agent
    return replace(claim, tree=tree) if is_agents(task) and tree else claim


def _completes(fact: TaskClosed, task: Task) -> bool:
    implements = task.opened is None or task.opened.mode is Mode.IMPLEMENT
    return fact.status in _COMPLETE and implements


def _was_judged(task: Task, fact: TaskClosed) -> bool:
    if task.judged is None:
        return False
    return task.judged.accepted if fact.status is Status.COMPLETED else task.judged.unverified
