"""What a caller chose of how a change is judged."""

from dataclasses import replace

import pytest

from harness_executor.kernel import events as e
from harness_executor.kernel.checked import CheckFinding, CheckResult, FindingKind
from harness_executor.kernel.choices import choices, tree_to_allow, unallowed
from harness_executor.kernel.report import Evidence, Launch, Origin, Side
from harness_executor.kernel.task import replay
from tests.kernel.examples import BASE, BASE_TREE, EVIDENCE, TASK_ID, TREE


def started(base: str, origin: Origin, change: str = "run") -> Evidence:
    """Evidence of servers that were started so."""
    sides = (Launch(Side.BASE, base, origin), Launch(Side.CHANGE, change, Origin.OPTION))
    return replace(EVIDENCE, launches=sides)


OTHER = started("old", Origin.OPTION)
GONE = CheckFinding(FindingKind.REMOVED, "tests/test_a.py::test_a", allowed="*")


@pytest.mark.parametrize(
    ("evidence", "count"),
    [
        (started("old", Origin.PROJECT), 0),
        (started("run", Origin.OPTION), 0),
        (started("", Origin.FILE, ""), 0),
        (OTHER, 1),
        (started("old", Origin.FILE), 1),
        (replace(OTHER, unchecked=("lint", "test")), 3),
        (replace(EVIDENCE, checks=(CheckResult("test", "pytest", True, True, findings=(GONE,)),)), 1),
        (replace(OTHER, findings=(replace(EVIDENCE.findings[0], allowed="old.yaml"),)), 2),
        (replace(OTHER, launches=(), unchecked=("test",)), 0),
    ],
)
def test_what_a_person_has_to_allow(evidence: Evidence, count: int) -> None:
    """What base says itself, and what starts both sides, is nobody's choice; older evidence is as it was."""
    assert len(choices(evidence)) == count


@pytest.mark.parametrize(
    ("driver", "tree", "waits"),
    [
        (e.Driver.SKILL, "", True),
        (e.Driver.SKILL, BASE_TREE, True),
        (e.Driver.SKILL, TREE, False),
        (e.Driver.RUNNER, "", False),
    ],
)
def test_a_task_waits_until_its_tree_was_allowed(driver: e.Driver, tree: str, waits: bool) -> None:
    """An agent's own task waits, for the tree that was verified; a person's choices wait for nobody."""
    opened = e.TaskOpened(TASK_ID, "count", e.Mode.IMPLEMENT, driver, BASE, BASE_TREE)
    facts = [opened, e.Verified(OTHER), e.ChangeApproved(tree, "user", TASK_ID, choices(OTHER))]
    task = replay(facts)
    assert bool(unallowed(task)) is waits
    assert tree_to_allow(task) == (TREE if driver is e.Driver.SKILL else BASE_TREE)


def test_what_was_not_shown_is_not_allowed() -> None:
    """The same tree, verified again with another choice, waits again."""
    opened = e.TaskOpened(TASK_ID, "count", e.Mode.IMPLEMENT, e.Driver.SKILL, BASE, BASE_TREE)
    allowed = e.ChangeApproved(TREE, "user", TASK_ID, choices(OTHER))
    again = e.Verified(replace(OTHER, unchecked=("test",)))
    assert unallowed(replay([opened, e.Verified(OTHER), allowed, again])) == (
        "the check test of base was not run",
    )
