"""What happens next."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_executor.kernel import events as e
from harness_executor.kernel.checked import CheckFinding, CheckResult, FindingKind
from harness_executor.kernel.events import Mode, Status, StepName
from harness_executor.kernel.failures import FailureClass
from harness_executor.kernel.policy import Close, Do, Pause, decide
from harness_executor.kernel.retries import Policy
from harness_executor.kernel.task import Task, replay
from tests.kernel.examples import BASE, BASE_TREE, CONTROL, EVIDENCE, TASK_ID
from tests.kernel.worlds import Ends, World

IMPLEMENT = [
    StepName.SETUP,
    StepName.PLAN,
    StepName.EXECUTE,
    StepName.VALIDATE,
    StepName.VERIFY,
    StepName.RECORD,
    StepName.PRESENT,
]
REVIEW = [StepName.SETUP, StepName.REVIEW, StepName.PRESENT]
CAPS = Policy()

MADE = e.ChangeMade(1, 1, "tree-1", "", "", (), (".mcp.json",), control=(CONTROL,))
WITH_CONTROL: list[e.Fact] = [
    e.TaskOpened(TASK_ID, "", Mode.IMPLEMENT, e.Driver.RUNNER, BASE, BASE_TREE),
    *(e.ProjectRead("", {}), e.LessonsFound(()), e.PlanApproved("policy")),
    *(MADE, e.PhaseExecuted(1, "tree-1", "c1")),
]


def steps(world: World) -> list[StepName]:
    """The steps of a world in the order they were taken."""
    return [do.step for do in world.done]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (Mode.IMPLEMENT, IMPLEMENT),
        (Mode.PLAN, [StepName.SETUP, StepName.PLAN, StepName.PRESENT]),
        (Mode.REVIEW, REVIEW),
        (Mode.AUDIT, REVIEW),
    ],
)
def test_a_task_that_goes_well_takes_each_step_once(mode: Mode, expected: list[StepName]) -> None:
    """The steps of every mode, in order; only implementing executes anything."""
    world = World(lambda _step, _n: Ends.WELL, mode)
    end = world.run()
    assert isinstance(end, Close)
    assert end.status is Status.COMPLETED
    assert steps(world) == expected
    assert all(do.attempt == 1 for do in world.done)


def test_every_phase_is_executed_once_and_in_order() -> None:
    """Three phases are three executions, then one validation."""
    world = World(lambda _step, _n: Ends.WELL, phases=3)
    world.run()
    assert [do.phase for do in world.done if do.step is StepName.EXECUTE] == [1, 2, 3]
    assert world.starts()[StepName.VALIDATE] == 1


@pytest.mark.parametrize("how", [Ends.FAILED, Ends.INTERRUPTED])
@pytest.mark.parametrize("step", IMPLEMENT)
@pytest.mark.parametrize("respawn", [0, 1, 2])
def test_a_step_that_never_succeeds_is_started_again_as_often_as_the_cap_says(
    step: StepName, how: Ends, respawn: int
) -> None:
    """A step that always fails, or is always interrupted, gets its cap of restarts and ends the task."""
    world = World(lambda name, _n: how if name is step else Ends.WELL, policy=replace(CAPS, respawn=respawn))
    end = world.run()
    assert world.starts()[step] == respawn + 1
    assert [do.attempt for do in world.done if do.step is step] == list(range(1, respawn + 2))
    why = "no answer" if how is Ends.FAILED else "it was interrupted every time"
    assert end == Close(Status.FAILED, f"{step.value} was started {respawn + 1} times without success: {why}")


@pytest.mark.parametrize("mode", [Mode.REVIEW, Mode.AUDIT])
def test_a_review_that_never_succeeds_ends_too(mode: Mode) -> None:
    """The cap holds for every step of every mode."""
    world = World(lambda step, _n: Ends.FAILED if step is StepName.REVIEW else Ends.WELL, mode)
    assert isinstance(world.run(), Close)
    assert world.starts()[StepName.REVIEW] == CAPS.respawn + 1


@pytest.mark.parametrize("step", IMPLEMENT)
def test_what_cannot_pass_is_not_tried_again(step: StepName) -> None:
    """A missing environment ends the task at its first failure."""
    world = World(lambda name, _n: Ends.HOPELESS if name is step else Ends.WELL)
    assert world.run() == Close(Status.FAILED, f"{step.value}: no disk")
    assert world.starts()[step] == 1


def test_a_final_failure_is_not_tried_again() -> None:
    """A failure that would come again is believed at once."""
    opened = e.TaskOpened(TASK_ID, "", Mode.IMPLEMENT, e.Driver.RUNNER, BASE, BASE_TREE)
    failed = e.StepFailed(StepName.SETUP, FailureClass.AGENT, "no such model", final=True)
    task = replay([opened, e.StepStarted(StepName.SETUP, 1), failed])
    assert decide(task, CAPS) == Close(Status.FAILED, "setup: no such model")


@pytest.mark.parametrize(
    ("step", "cap"), [(StepName.VALIDATE, "validation"), (StepName.VERIFY, "verification")]
)
@pytest.mark.parametrize("limit", [0, 1, 2])
def test_work_that_is_never_good_is_sent_back_as_often_as_the_cap_says(
    step: StepName, cap: str, limit: int
) -> None:
    """The executor gets its cap of further tries; then the gate judges what there is."""
    world = World(
        lambda name, _n: Ends.SENT_BACK if name is step else Ends.WELL, policy=replace(CAPS, **{cap: limit})
    )
    end = world.run()
    assert world.starts()[step] == limit + 1
    assert world.starts()[StepName.EXECUTE] == limit + 1
    assert world.starts()[StepName.RECORD] == 1
    assert isinstance(end, Close)
    assert end.status is Status.REFUSED
    assert end.summary


def test_the_caps_are_the_documented_ones() -> None:
    """Three mendings by the executor, two restarts, two failed validations, two failed verifications."""
    assert Policy() == Policy(self_fix=3, respawn=2, validation=2, verification=2)


@pytest.mark.parametrize(
    ("step", "caps"),
    [(StepName.VALIDATE, Policy(verification=0)), (StepName.VERIFY, Policy(validation=0))],
)
def test_a_cap_of_nothing_for_one_leaves_the_other(step: StepName, caps: Policy) -> None:
    """Work may be sent back by the one step though not by the other."""
    world = World(lambda name, _n: Ends.SENT_BACK if name is step else Ends.WELL, policy=caps)
    world.run()
    assert world.starts()[step] == 3


def test_both_ways_of_being_sent_back_are_counted_apart() -> None:
    """Two failed validations do not use up the tries a failed verification has."""
    fates = {
        StepName.VALIDATE: [Ends.SENT_BACK, Ends.WELL, Ends.SENT_BACK, Ends.WELL, Ends.WELL],
        StepName.VERIFY: [Ends.SENT_BACK, Ends.SENT_BACK, Ends.WELL],
    }
    world = World(lambda step, n: fates[step][n - 1] if step in fates else Ends.WELL)
    end = world.run()
    assert isinstance(end, Close)
    assert end.status is Status.COMPLETED
    assert world.starts()[StepName.EXECUTE] == 5


def test_a_success_gives_a_step_its_attempts_back() -> None:
    """What failed twice and then went well may fail twice again later."""
    fates = [Ends.FAILED, Ends.FAILED, Ends.WELL]
    world = World(
        lambda step, n: (
            fates[(n - 1) % 3]
            if step is StepName.EXECUTE
            else Ends.SENT_BACK
            if step is StepName.VERIFY and n == 1
            else Ends.WELL
        )
    )
    end = world.run()
    assert isinstance(end, Close)
    assert end.status is Status.COMPLETED
    assert [do.attempt for do in world.done if do.step is StepName.EXECUTE] == [1, 2, 3, 1, 2, 3]


@given(
    st.dictionaries(st.tuples(st.sampled_from(StepName), st.integers(1, 12)), st.sampled_from(Ends)),
    st.sampled_from(Mode),
    st.integers(1, 3),
    st.builds(
        Policy,
        respawn=st.integers(0, 3),
        validation=st.integers(0, 3),
        verification=st.integers(0, 3),
    ),
)
def test_no_course_of_events_takes_more_steps_than_the_caps_allow(
    fates: dict[tuple[StepName, int], Ends], mode: Mode, phases: int, caps: Policy
) -> None:
    """Whatever fails, is interrupted or sent back, in any order, every task ends within its caps."""
    world = World(lambda step, n: fates.get((step, n), Ends.WELL), mode, phases, caps)
    assert isinstance(world.run(), Close)
    successes = Counter(dict.fromkeys(StepName, 1))
    successes[StepName.EXECUTE] = phases + caps.validation + caps.verification
    successes[StepName.VALIDATE] = caps.validation + caps.verification + 1
    successes[StepName.VERIFY] = caps.verification + 2
    for step, starts in world.starts().items():
        assert starts <= successes[step] * (caps.respawn + 1)
    assert all(do.attempt <= caps.respawn + 1 for do in world.done)


@settings(max_examples=40)
@given(st.dictionaries(st.tuples(st.sampled_from(StepName), st.integers(1, 6)), st.sampled_from(Ends)))
def test_the_same_facts_always_lead_to_the_same_decision(fates: dict[tuple[StepName, int], Ends]) -> None:
    """A task taken over after any fact goes on exactly as the one that was never interrupted."""
    world = World(lambda step, n: fates.get((step, n), Ends.WELL), phases=2)
    end = world.run()
    assert decide(replay(world.facts), CAPS) == end
    for number, (fact, after) in enumerate(pairwise(world.facts)):
        decision = decide(replay(world.facts[: number + 1]), CAPS)
        if isinstance(after, e.StepStarted):
            assert decision == Do(after.step, after.attempt, after.phase), fact


def test_a_paused_task_waits() -> None:
    """Nothing is done while a person is asked."""
    task = replay([e.TaskPaused("which database?")])
    assert decide(task, CAPS) == Pause("which database?")
    assert decide(replay([e.TaskPaused("which?"), e.TaskResumed("user")]), CAPS) == Do(StepName.SETUP, 1)


@pytest.mark.parametrize("before", [[], [e.Validated("tree-1", ())]])
def test_a34_control_files_wait_for_a_person_before_the_change_is_run(before: list[e.Fact]) -> None:
    """Neither checks nor servers of a change run, nor does the gate judge, until its tree is approved."""
    facts = [*WITH_CONTROL, *before]
    waiting = decide(replay(facts), CAPS)
    assert isinstance(waiting, Pause)
    assert "- .mcp.json (created): a coding agent starts it" in waiting.reason
    assert f"harness approve {TASK_ID}" in waiting.hint
    assert f"git diff {BASE[:12]} harness/{TASK_ID}" in waiting.hint
    resumed = [*facts, e.TaskPaused(waiting.reason), e.TaskResumed("user")]
    assert decide(replay(resumed), CAPS) == waiting
    approved = decide(replay([*resumed, e.ChangeApproved("tree-1", "user", TASK_ID)]), CAPS)
    assert approved == Do(StepName.VERIFY if before else StepName.VALIDATE, 1)


def test_a82_another_tree_is_asked_for_again() -> None:
    """An approval holds for the tree that was looked at, and for no other."""
    facts = [*WITH_CONTROL, e.ChangeApproved("tree-1", "user", TASK_ID)]
    again = [replace(MADE, tree="tree-2"), e.PhaseExecuted(1, "tree-2", "c2")]
    assert decide(replay(facts), CAPS) == Do(StepName.VALIDATE, 1)
    assert isinstance(decide(replay([*facts, *again]), CAPS), Pause)


def test_a_change_that_takes_its_control_files_back_needs_nobody() -> None:
    """What counts is the difference to the base as it is now."""
    again = [replace(MADE, tree="tree-2", control=()), e.PhaseExecuted(1, "tree-2", "c2")]
    assert decide(replay([*WITH_CONTROL, *again]), CAPS) == Do(StepName.VALIDATE, 1)


def test_a_resumed_task_has_its_attempts_back() -> None:
    """A person who sends a task on gives it another chance, and keeps what was counted against the work."""
    started = [e.StepStarted(StepName.SETUP, n) for n in (1, 2, 3)]
    failed = e.StepFailed(StepName.SETUP, FailureClass.PAUSE, "asked")
    task = replay([*started, failed, e.TaskPaused("?"), e.TaskResumed("user")])
    assert decide(task, CAPS) == Do(StepName.SETUP, 1)


def test_a_closed_task_stays_closed() -> None:
    """What is over is over, whatever else the log says."""
    closed = e.TaskClosed(Status.FAILED, "gave up")
    assert decide(replay([e.TaskPaused("?"), closed]), CAPS) == Close(Status.FAILED, "gave up")


def test_an_interrupted_setup_is_taken_again() -> None:
    """A project that was read without its lessons is read once more."""
    task = replay([e.StepStarted(StepName.SETUP, 1), e.ProjectRead("", {})])
    assert decide(task, CAPS) == Do(StepName.SETUP, 2)


@pytest.mark.parametrize(
    ("facts", "end"),
    [
        ([e.GateJudged(True, ())], Close(Status.COMPLETED, "")),
        ([e.GateJudged(False, (), unverified=True)], Close(Status.COMPLETED_UNVERIFIED, "")),
        ([e.GateJudged(False, ("no proof", "no negative"))], Close(Status.REFUSED, "no proof; no negative")),
    ],
)
def test_the_gate_decides_how_a_task_closes(facts: list[e.Fact], end: Close) -> None:
    """Accepted is completed; refused carries every reason."""
    before = [e.ProjectRead("", {}), e.PlanApproved("policy"), *facts, e.Presented("summary.md")]
    assert decide(replay(before), CAPS) == end


def test_a_review_without_a_word_still_closes() -> None:
    """The summary of a task that neither planned nor found anything is empty."""
    task = replay([e.ProjectRead("", {}), e.PlanApproved("policy"), e.Presented("summary.md")])
    opened = e.TaskOpened(TASK_ID, "", Mode.PLAN, e.Driver.RUNNER, BASE, BASE_TREE)
    assert decide(replace(task, opened=opened), CAPS) == Close(Status.COMPLETED, "")
    assert decide(Task(), CAPS) == Do(StepName.SETUP, 1)


def test_what_a_change_does_to_tests_waits_for_a_person_once_it_is_proved() -> None:
    """Before the gate is asked, the task is parked with every question, and one approval answers it."""
    removed = CheckFinding(FindingKind.REMOVED, "t.py::test_a")
    result = CheckResult("test", "pytest", base_passed=True, change_passed=True, findings=(removed,))
    opened = e.TaskOpened("task", "do it", e.Mode.IMPLEMENT, e.Driver.RUNNER, "b" * 40, "tree-0")
    made = e.PhaseExecuted(1, "tree-1", "c" * 40)
    facts = (
        opened,
        e.ProjectRead("run", {}),
        e.PlanApproved("policy"),
        made,
        e.Validated("tree-1", (result,)),
    )
    proved = replay((*facts, e.Verified(EVIDENCE)))
    waiting = decide(proved, Policy())
    assert isinstance(waiting, Pause)
    assert "- test: t.py::test_a was removed" in waiting.reason
    other = replay((*facts, e.Verified(EVIDENCE), e.ChangeApproved("tree-1", "user", "task")))
    assert isinstance(decide(other, Policy()), Pause)
    allowed = e.ChangeApproved("tree-1", "user", "task", ("test: t.py::test_a was removed",))
    assert decide(replay((*facts, e.Verified(EVIDENCE), allowed)), Policy()) == Do(e.StepName.RECORD, 1)
