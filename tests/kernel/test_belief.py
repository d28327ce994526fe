"""Does a log bear out what it says of itself?"""

from dataclasses import replace
from pathlib import Path

import pytest

from harness_executor.kernel import events as e
from harness_executor.kernel.belief import claim_of, unearned
from harness_executor.kernel.canonical import parse
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.control import ControlFile
from harness_executor.kernel.gate import Claim
from harness_executor.kernel.report import Evidence
from harness_executor.kernel.task import replay
from harness_executor.store.codec import build

CASE = Path(__file__).parent / "cases" / "gate" / "accepted_proof_and_negative.json"
EVIDENCE = build(Evidence, parse(CASE.read_text(encoding="utf-8"))["evidence"])
OPENED = e.TaskOpened(
    EVIDENCE.task_id, "count", e.Mode.IMPLEMENT, e.Driver.RUNNER, EVIDENCE.base_commit, EVIDENCE.base_tree
)
WORK = e.PhaseExecuted(1, EVIDENCE.tree, "c" * 40)
FROZEN = e.ScenariosFrozen((), EVIDENCE.scenario_digest)
SEEN = e.Verified(EVIDENCE)
ACCEPTED = e.GateJudged(True, ())
REFUSED = e.GateJudged(False, ("no proof",))
DONE = e.TaskClosed(e.Status.COMPLETED, "counted")
PLAN = replace(OPENED, mode=e.Mode.PLAN)
BY_AGENT = replace(OPENED, driver=e.Driver.SKILL)

CONTROL = ControlFile(".mcp.json", "a coding agent starts it", created=True)
MADE = e.ChangeMade(1, 1, EVIDENCE.tree, "", "", (), (".mcp.json",), control=(CONTROL,))
APPROVED = e.ChangeApproved(EVIDENCE.tree, "user", EVIDENCE.task_id)
SEEN_CONTROL = e.Verified(replace(EVIDENCE, control=(CONTROL,)))

NOT_ACCEPTED = "says completed, and the gate did not accept"
NOT_APPROVED = "says that a person approved the change, and nobody did so here"
NOT_PROVED = "says that the gate accepted, and its evidence does not bear that out"


@pytest.mark.parametrize(
    "facts",
    [
        [],
        [OPENED],
        [OPENED, FROZEN, WORK, SEEN, ACCEPTED, DONE],
        [OPENED, FROZEN, WORK, SEEN, REFUSED, e.TaskClosed(e.Status.REFUSED, "no proof")],
        [OPENED, e.TaskClosed(e.Status.FAILED, "gave up")],
        [PLAN, DONE],
        [BY_AGENT, SEEN, ACCEPTED, DONE],
        [OPENED, FROZEN, WORK, REFUSED, SEEN, ACCEPTED, DONE],
        [OPENED, FROZEN, MADE, WORK, APPROVED, SEEN_CONTROL, ACCEPTED, DONE],
        [BY_AGENT, SEEN_CONTROL, ACCEPTED, DONE],
    ],
    ids=[
        *("empty", "opened", "proved", "refused", "failed", "plan", "agent", "second try"),
        *("approved", "agent with control files"),
    ],
)
def test_believes_a_log_that_earned_what_it_says(facts: list[e.Fact]) -> None:
    """Nothing is said that the facts before it do not bear out."""
    assert unearned(EVIDENCE.task_id, facts, lambda evidence: evidence is not None) == ""


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        ([replace(OPENED, task_id="another")], "is the log of another task: another"),
        ([OPENED, OPENED], "opens its task twice"),
        ([OPENED, FROZEN, FROZEN], "freezes the scenarios twice"),
        ([OPENED, DONE], NOT_ACCEPTED),
        ([DONE], NOT_ACCEPTED),
        ([OPENED, FROZEN, WORK, SEEN, REFUSED, DONE], NOT_ACCEPTED),
        ([OPENED, DONE, FROZEN, WORK, SEEN, ACCEPTED], NOT_ACCEPTED),
        ([OPENED, ACCEPTED, DONE], NOT_PROVED),
        ([OPENED, FROZEN, WORK, ACCEPTED, SEEN, DONE], NOT_PROVED),
        ([OPENED, FROZEN, SEEN, ACCEPTED], NOT_PROVED),
        ([BY_AGENT, e.Verified(replace(EVIDENCE, findings=())), ACCEPTED], NOT_PROVED),
        ([OPENED, FROZEN, MADE, WORK, SEEN, ACCEPTED], NOT_PROVED),
        ([OPENED, FROZEN, MADE, WORK, SEEN, ACCEPTED, APPROVED], NOT_PROVED),
        ([OPENED, FROZEN, MADE, replace(APPROVED, tree="another"), WORK, SEEN, ACCEPTED], NOT_PROVED),
        ([OPENED, FROZEN, replace(MADE, control=()), WORK, SEEN_CONTROL, ACCEPTED], NOT_PROVED),
        ([OPENED, replace(APPROVED, task_id="another")], NOT_APPROVED),
    ],
)
def test_does_not_believe_what_a_log_cannot_know(facts: list[e.Fact], what: str) -> None:
    """A log that runs ahead of its own evidence is named for it."""
    assert unearned(EVIDENCE.task_id, facts, lambda evidence: evidence is not None) == what


def test_does_not_believe_evidence_that_was_not_sealed_here() -> None:
    """The seal is looked at again, every time."""
    facts = [OPENED, FROZEN, WORK, SEEN, ACCEPTED, DONE]
    assert unearned(EVIDENCE.task_id, facts, lambda _evidence: False) == NOT_PROVED


def test_does_not_believe_an_approval_that_was_not_sealed_here() -> None:
    """A line that says a person approved, written by somebody else, is named."""
    facts = [OPENED, FROZEN, MADE, WORK, APPROVED]
    assert unearned(EVIDENCE.task_id, facts, lambda _sealed: True) == ""
    assert unearned(EVIDENCE.task_id, facts, lambda _sealed: False) == NOT_APPROVED


def test_a82_claims_control_files_until_this_tree_is_approved() -> None:
    """The claim names the files that the log or the sealed evidence has, unless a person allowed the tree."""
    before = [OPENED, FROZEN, MADE, WORK]
    assert claim_of(replay(before)).control == (".mcp.json",)
    assert claim_of(replay([*before, SEEN_CONTROL])).control == (".mcp.json",)
    assert claim_of(replay([OPENED, FROZEN, WORK, SEEN_CONTROL])).control == (".mcp.json",)
    assert claim_of(replay([*before, APPROVED])).control == ()
    assert claim_of(replay([*before, replace(APPROVED, tree="another")])).control == (".mcp.json",)


def test_claims_what_the_facts_say() -> None:
    """The claim names the tree of the last commit, the red checks, and what the executor wrote itself."""
    made = e.ChangeMade(1, 1, EVIDENCE.tree, "", "", (), (), own_reports=("report.json", "report.json"))
    red = e.Validated(EVIDENCE.tree, (CheckResult("test", "pytest", True, False),))
    task = replay([replace(OPENED, refactor=True), FROZEN, made, WORK, red])
    assert claim_of(task) == Claim(
        EVIDENCE.task_id,
        EVIDENCE.base_commit,
        EVIDENCE.base_tree,
        EVIDENCE.tree,
        EVIDENCE.scenario_digest,
        refactor=True,
        checks=red.results,
        remarks=("the executor wrote report.json itself; only what the harness recorded counts",),
    )
    assert claim_of(replay([])) == Claim("", "", "", "")
