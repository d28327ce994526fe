"""Is there anything to run?"""

from dataclasses import replace

import pytest

from harness_executor.kernel import events as e
from harness_executor.kernel.belief import unearned
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.control import ControlFile
from harness_executor.kernel.events import Fact, StepName
from harness_executor.kernel.gate import Claim, judge_unrun
from harness_executor.kernel.policy import Close, Do, decide
from harness_executor.kernel.retries import Policy
from harness_executor.kernel.scenario import Kind
from harness_executor.kernel.survey import ChangeSurveyed, Survey, Touched, found, objections
from harness_executor.kernel.task import replay
from tests.kernel.examples import BASE, BASE_TREE, EVIDENCE, SCENARIO, SURVEYED, TASK_ID, TREE

PROGRAMS = ("app.py",)
CHANGED = ("100644", "100644")
README = Touched("README.md", *CHANGED)


def seen(*files: Touched, **doubts: str) -> Survey:
    """A survey of these files, in a project with a program."""
    return Survey(files, PROGRAMS, doubts)


def test_documents_leave_nothing_to_run() -> None:
    """Changed, added and removed ones, and programs that differ in comments only."""
    files = (README, Touched("docs/a.md", "", "100644"), Touched("NEWS", "100644", ""))
    survey = seen(*files, Touched("run.py", "100755", "100755", comments=True))
    assert objections(survey) == ()
    assert found(survey) == "no program reads what changed: README.md, docs/a.md, NEWS, run.py"


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (Touched("app.py", *CHANGED), "app.py: it is not documentation"),
        (Touched("app.py", "100644", ""), "app.py: it is not documentation"),
        (Touched("README.md", "100644", "120000"), "(mode 100644 → 120000)"),
        (Touched("README.md", "", "120000"), "(mode 120000)"),
        (Touched("README.md", "100644", "100755"), "(mode 100644 → 100755)"),
        (Touched("README.md", "100755", "100755"), "(mode 100755 → 100755)"),
        (Touched("docs", "", "160000"), "(mode 160000)"),
        (Touched("app.py", "100644", "100755", comments=True), "(mode 100644 → 100755)"),
        (Touched("app.py", "120000", "120000", comments=True), "(mode 120000 → 120000)"),
    ],
)
def test_one_file_that_is_more_than_a_document_has_to_be_run(file: Touched, why: str) -> None:
    """Code, links, modes and submodules, however many documents stand beside."""
    (said,) = objections(seen(README, file))
    assert why in said
    assert found(seen(README, file)).startswith("the change has to be run: ")


def test_a_doubt_is_an_objection() -> None:
    """What the code names may be read."""
    survey = replace(seen(README), doubts={"README.md": "app.py names it"})
    assert objections(survey) == ("README.md: app.py names it",)


def test_nothing_changed_is_nothing_to_call_complete() -> None:
    """An empty change is no documentation."""
    assert objections(seen()) == ("nothing changed: the tree equals the base",)


def test_where_nothing_can_be_run_every_plain_text_may_change() -> None:
    """But for links and programs."""
    survey = Survey((Touched("people.csv", *CHANGED),), ())
    assert objections(survey) == ()
    assert found(survey).startswith("the repository has no server")
    assert objections(Survey((Touched("people.csv", "100644", "120000"),), ()))


CLAIM = Claim(TASK_ID, BASE, BASE_TREE, TREE)


def test_lets_a_change_pass_as_unverified_and_never_as_accepted() -> None:
    """Nothing speaks against it, and nothing was run."""
    verdict = judge_unrun(CLAIM, SURVEYED, seal_is_valid=True)
    assert (verdict.accepted, verdict.unverified, verdict.reasons) == (False, True, ())


@pytest.mark.parametrize(
    ("claim", "fact", "why"),
    [
        (CLAIM, replace(SURVEYED, task_id="another"), "belongs to another task"),
        (CLAIM, replace(SURVEYED, base_commit="0" * 40), "compares with another base"),
        (replace(CLAIM, tree="0" * 40), SURVEYED, "the code changed after it was verified"),
        (CLAIM, replace(SURVEYED, tree_after="0" * 40), "the code changed while it was being verified"),
        (
            CLAIM,
            replace(SURVEYED, survey=seen(Touched("a.py", "", "100644"))),
            "a.py: it is not documentation",
        ),
        (
            CLAIM,
            replace(SURVEYED, checks=(CheckResult("test", "pytest", True, False),)),
            "the check test passes on base and fails on the change",
        ),
        (replace(CLAIM, control=("AGENTS.md",)), SURVEYED, "nobody approved AGENTS.md"),
    ],
)
def test_refuses_what_the_harness_did_not_find_for_this_change(
    claim: Claim, fact: ChangeSurveyed, why: str
) -> None:
    """A survey is bound to its task, base and tree, and checks and control files count as ever."""
    verdict = judge_unrun(claim, fact, seal_is_valid=True)
    assert not verdict.unverified
    assert any(why in reason for reason in verdict.reasons)


def test_refuses_a_survey_that_was_not_sealed_here() -> None:
    """Whoever wrote it."""
    verdict = judge_unrun(CLAIM, SURVEYED, seal_is_valid=False)
    assert "its seal does not fit" in verdict.reasons[0]


STAYS = replace(SCENARIO, kind=Kind.UNCHANGED)
OPENED = e.TaskOpened(TASK_ID, "mend the readme", e.Mode.IMPLEMENT, e.Driver.RUNNER, BASE, BASE_TREE)
WORK: list[Fact] = [
    *(OPENED, e.ProjectRead("", {}), e.LessonsFound(()), e.ScenariosFrozen((STAYS,), "d" * 64)),
    *(e.PlanApproved("policy"), e.PhaseExecuted(1, TREE, "c" * 40), e.Validated(TREE, ())),
]
UNVERIFIED = e.GateJudged(False, (), unverified=True)
CLOSED = e.TaskClosed(e.Status.COMPLETED_UNVERIFIED, "mended")
BY_AGENT = replace(OPENED, driver=e.Driver.SKILL)
NOT_FOUND = "says that there was nothing to run, and the harness did not find so"
NOT_ACCEPTED = "says completed, and the gate did not accept"


def test_what_is_surveyed_is_judged_and_not_run() -> None:
    """The survey takes the place of a verification until the code changes again."""
    assert decide(replay(WORK), Policy()) == Do(StepName.VERIFY, 1)
    assert decide(replay([*WORK, SURVEYED]), Policy()) == Do(StepName.RECORD, 1)
    again = [*WORK, SURVEYED, e.PhaseExecuted(1, "0" * 40, "e" * 40)]
    assert decide(replay(again), Policy()) == Do(StepName.VALIDATE, 1)
    ended = replay([*WORK, SURVEYED, UNVERIFIED, e.Presented("summary.md")])
    assert decide(ended, Policy()) == Close(e.Status.COMPLETED_UNVERIFIED, "")
    assert ended.unrun == SURVEYED.reason


@pytest.mark.parametrize(
    ("kind", "refactor", "must"),
    [
        *((Kind.NEW, False, True), (Kind.CHANGED, False, True), (Kind.UNCHANGED, False, False)),
        *((Kind.NEGATIVE, False, False), (Kind.UNCHANGED, True, True)),
    ],
)
def test_a_promise_has_to_be_kept_by_running(kind: Kind, refactor: bool, must: bool) -> None:
    """Scenarios of something new are run whatever the change is, and so are those of a refactoring."""
    frozen = e.ScenariosFrozen((replace(SCENARIO, kind=kind),), "d" * 64)
    assert replay([replace(OPENED, refactor=refactor), frozen]).must_run is must


def says(*facts: Fact, fits: bool = True) -> str:
    """What a log of these facts cannot know."""
    return unearned(TASK_ID, facts, lambda _sealed: fits)


def test_believes_a_log_whose_survey_bears_it_out() -> None:
    """Of a run, and of a coding agent whose working tree the log does not know."""
    assert says(*WORK, SURVEYED, UNVERIFIED, CLOSED) == ""
    assert says(BY_AGENT, SURVEYED, UNVERIFIED, CLOSED) == ""


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        ([*WORK, UNVERIFIED], NOT_FOUND),
        ([*WORK, replace(SURVEYED, tree="0" * 40), UNVERIFIED], NOT_FOUND),
        ([*WORK, replace(SURVEYED, survey=seen(Touched("a.py", "", "100644"))), UNVERIFIED], NOT_FOUND),
        ([*WORK, SURVEYED, replace(UNVERIFIED, accepted=True)], "says that the gate accepted"),
        ([*WORK, SURVEYED, CLOSED], NOT_ACCEPTED),
        ([*WORK, SURVEYED, UNVERIFIED, replace(CLOSED, status=e.Status.COMPLETED)], NOT_ACCEPTED),
        ([*WORK, SURVEYED, e.Verified(replace(EVIDENCE, tree=TREE)), UNVERIFIED], NOT_FOUND),
        ([*WORK[:3], e.ScenariosFrozen((SCENARIO,), ""), *WORK[4:], SURVEYED, UNVERIFIED], NOT_FOUND),
    ],
)
def test_does_not_believe_a_skip_that_was_not_found(facts: list[Fact], what: str) -> None:
    """No survey, another tree, code, a real verification of the same tree, or a promise of something new."""
    assert says(*facts).startswith(what)


def test_does_not_believe_a_survey_sealed_elsewhere() -> None:
    """The seal is looked at again, every time."""
    assert says(*WORK, SURVEYED, UNVERIFIED, CLOSED, fits=False) == NOT_FOUND


def test_control_files_of_an_unrun_change_wait_for_a_person() -> None:
    """AGENTS.md is a document, and agents follow it."""
    control = (ControlFile("AGENTS.md", "a coding agent follows it", created=True),)
    made = e.ChangeMade(1, 1, TREE, "", "", (), ("AGENTS.md",), control=control)
    assert says(*WORK[:5], made, *WORK[5:], SURVEYED, UNVERIFIED) == NOT_FOUND
