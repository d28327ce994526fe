"""What the facts of a task add up to."""

from dataclasses import replace
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel import events as e
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.budget import Caps
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.events import Fact, Status, StepName
from harness_executor.kernel.failures import FailureClass
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.task import Task, all_of, apply, closing, replay
from tests.kernel.examples import BASE, BASE_TREE, EVIDENCE, EXAMPLES, TASK_ID, TREE

FACTS = st.lists(st.sampled_from(EXAMPLES), max_size=40)
OPENED = e.TaskOpened(TASK_ID, "count", e.Mode.IMPLEMENT, e.Driver.RUNNER, BASE, BASE_TREE)
RED = CheckResult("test", "pytest -q", True, False, "1 failed")


def change(number: int, phase: int = 1) -> e.ChangeMade:
    """The nth change."""
    return e.ChangeMade(
        phase,
        1,
        f"tree-{number}",
        "",
        f"change {number}",
        ("app.py", f"{number}.py"),
        (),
        (f"l{number}", "all"),
    )


@given(FACTS, FACTS)
def test_replaying_is_applying_one_by_one(before: list[Fact], after: list[Fact]) -> None:
    """A task resumed after any fact is the task that was never interrupted."""
    assert replay([*before, *after]) == reduce(apply, after, replay(before))


@given(FACTS, st.sampled_from(EXAMPLES))
def test_a_fact_leaves_the_task_before_it_alone(facts: list[Fact], fact: Fact) -> None:
    """The state before a fact can still be looked at after it."""
    task = replay(facts)
    apply(task, fact)
    assert task == replay(facts)


@pytest.mark.parametrize("fact", EXAMPLES, ids=lambda fact: type(fact).__name__)
def test_knows_every_fact(fact: Fact) -> None:
    """No fact of ours is a surprise."""
    assert isinstance(apply(Task(), fact), Task)


def test_refuses_a_fact_it_does_not_know() -> None:
    """A fact nobody folds is an error, not silence."""

    @frozen
    class MoonRose(Fact):
        """Something else happened."""

    with pytest.raises(TypeError, match="MoonRose is not a fact the task knows"):
        apply(Task(), MoonRose())


def test_an_empty_task_is_in_progress_and_has_one_phase() -> None:
    """A task of which nothing is known has nothing."""
    task = Task()
    assert (task.status, task.total_phases, task.base_commit, task.base_tree) == (
        Status.IN_PROGRESS,
        1,
        "",
        "",
    )
    assert (task.head, task.tree, task.attempt(StepName.PLAN)) == ("", "", 1)


def test_a_task_stands_on_its_base_until_something_is_committed() -> None:
    """Head and tree are the base's first, and the last commit's then."""
    task = replay([OPENED])
    assert (task.id, task.head, task.tree) == (TASK_ID, BASE, BASE_TREE)
    task = replay([OPENED, e.PhaseExecuted(1, "tree-1", "c1"), e.PhaseExecuted(2, "tree-2", "c2")])
    assert (task.head, task.tree, task.phases_done) == ("c2", "tree-2", 2)


def test_the_plan_says_how_many_phases_there_are() -> None:
    """The number asked for holds until there is a plan."""
    opened = replace(OPENED, phases=4)
    plan = e.PlanProposed("", (e.Phase("a", ""), e.Phase("b", "")), "")
    assert replay([opened]).total_phases == 4
    assert replay([opened, plan]).total_phases == 2


def test_a_change_is_pending_until_it_is_committed() -> None:
    """A crash between the change and its commit leaves the change to be committed."""
    task = replay([OPENED, change(1)])
    assert task.pending == change(1)
    task = apply(task, e.PhaseExecuted(1, "tree-1", "c1"))
    assert task.pending is None
    assert task.changes == (change(1),)


def test_a_commit_that_is_there_already_is_not_counted_twice() -> None:
    """A phase that changed nothing, or was committed before a crash, adds no commit."""
    same = e.PhaseExecuted(1, "tree-1", "c1")
    assert replay([OPENED, same, same]).commits == (same,)
    assert replay([OPENED, e.PhaseExecuted(1, BASE_TREE, BASE)]).commits == ()


def test_a_commit_makes_what_was_seen_before_it_old() -> None:
    """Validation, verification and feedback belong to the tree they were made for."""
    facts = [OPENED, e.Validated("t", (RED,)), e.Verified(EVIDENCE, ("missing",)), change(1)]
    task = replay([*facts, e.PhaseExecuted(1, "tree-1", "c1")])
    assert (task.validated, task.verified, task.feedback) == (None, None, ())
    assert task.setbacks == {StepName.VALIDATE: 1, StepName.VERIFY: 1}


def test_mending_a_phase_does_not_undo_later_ones() -> None:
    """A phase done again leaves the count of phases as it was."""
    facts = [e.PhaseExecuted(1, "t1", "c1"), e.PhaseExecuted(2, "t2", "c2"), e.PhaseExecuted(1, "t3", "c3")]
    assert replay([OPENED, *facts]).phases_done == 2


def test_red_checks_send_the_work_back_with_their_output() -> None:
    """The executor reads the command, the check and what it said."""
    green, old = CheckResult("lint", "ruff", True, True), CheckResult("types", "mypy", False, False)
    task = replay([e.Validated(TREE, (green, RED, old))])
    assert task.feedback == ("`pytest -q` (test) passes on base and fails on your change:\n1 failed",)
    assert task.setbacks == {StepName.VALIDATE: 1}
    assert replay([e.Validated(TREE, (green, old))]).setbacks == {}


def test_failed_scenarios_send_the_work_back() -> None:
    """What a verification complained of is what the executor has to mend."""
    task = replay([e.Verified(EVIDENCE, ("missing: a",)), e.Verified(EVIDENCE, ("missing: b",))])
    assert task.feedback == ("missing: b",)
    assert task.setbacks == {StepName.VERIFY: 2}
    assert replay([e.Verified(EVIDENCE)]).setbacks == {}


def test_every_start_counts_until_a_success() -> None:
    """An interrupted attempt counts like a failed one; a success starts the count anew."""
    start, fail = e.StepStarted(StepName.PLAN, 1), e.StepFailed(StepName.PLAN, FailureClass.AGENT, "no")
    task = replay([start, start, fail, start])
    assert task.running == start
    assert task.attempt(StepName.PLAN) == 4
    task = apply(task, e.PlanApproved("policy"))
    assert (task.running, task.failure, task.attempt(StepName.PLAN)) == (None, None, 1)


def test_a_pause_stops_the_running_step_and_blocks_the_task() -> None:
    """A person is asked, and may send the task on."""
    task = replay([e.StepStarted(StepName.PLAN, 1), e.TaskPaused("which database?")])
    assert (task.status, task.running) == (Status.BLOCKED, None)
    task = apply(task, e.TaskResumed("user"))
    assert (task.status, task.paused, task.tries) == (Status.IN_PROGRESS, "", {})


def test_checkpoints_of_a_coding_agent_count_as_phases() -> None:
    """A phase somebody else finished is done."""
    task = replay([OPENED, e.PhaseCheckpointed(1, "one", ("kept",), ("a.py",), ("b.py",))])
    assert (task.phases_done, len(task.checkpoints)) == (1, 1)
    assert all_of(task, "files_created") == ("b.py",)


def test_charges_add_up() -> None:
    """Every call is kept, in order."""
    calls = [e.CallCharged("job", number, "scripted", 10, number) for number in (1, 2, 3)]
    assert replay(calls).calls.charges == tuple(calls)


def test_caps_are_those_of_the_start_until_a_person_raises_one() -> None:
    """What is not raised stays as it was."""
    opened = replace(OPENED, caps=Caps(turns=10, micros=5))
    assert replay([opened]).caps == Caps(turns=10, micros=5)
    assert replay([opened, e.TaskResumed("user", Caps(turns=20))]).caps == Caps(turns=20, micros=5)


def test_a_pause_says_why() -> None:
    """The cause decides the exit code, the reason is for people."""
    task = replay([OPENED, e.TaskPaused("no money", e.Cause.BUDGET, "raise it")])
    assert task.pause == e.TaskPaused("no money", e.Cause.BUDGET, "raise it")
    assert (task.status, task.paused) == (Status.BLOCKED, "no money")


def test_closing_says_what_was_touched_and_learned() -> None:
    """Every file and lesson once, in order, and how each check came out."""
    validated = e.Validated("t", (RED, CheckResult("lint", "ruff", False, False)))
    task = replay([OPENED, change(1), change(2), validated])
    assert closing(task, Status.REFUSED, "no proof") == e.TaskClosed(
        Status.REFUSED,
        "no proof",
        files_changed=("app.py", "1.py", "2.py"),
        lessons=("l1", "all", "l2"),
        validation={"test": "fail", "lint": "pass"},
    )
    assert closing(Task(), Status.FAILED, "") == e.TaskClosed(Status.FAILED, "")


def test_a_closed_task_has_the_status_it_was_closed_with() -> None:
    """Closing ends a running step and outlives a pause."""
    facts = [e.StepStarted(StepName.PLAN, 1), e.TaskPaused("?"), e.TaskClosed(Status.REFUSED, "no")]
    task = replay(facts)
    assert (task.status, task.running) == (Status.REFUSED, None)


def test_a_task_is_as_well_boxed_as_its_least_boxed_subagent() -> None:
    """One subagent that worked without a box could reach everything, whatever the others had."""
    boxed = e.AgentAsked("1", "planner", "m", Assurance.SANDBOXED)
    assert replay([boxed, boxed]).assurance is Assurance.SANDBOXED
    assert replay([boxed, e.AgentAsked("2", "executor", "m"), boxed]).assurance is Assurance.UNSANDBOXED
