"""Whole runs in which a scenario is disputed, with a scripted model."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness_executor.kernel.events import AgentAsked
from harness_executor.kernel.revisions import ScenariosAmended, ScenariosDisputed
from tests.claims.app import COUNT, ROUTES
from tests.claims.asking import COUNTS, REQUEST, add_item, at, scenario, step
from tests.claims.case import Outcome
from tests.claims.project import Project, make_project
from tests.claims.script import DONE, PLAN, call, submit
from tests.steps.scripted import facts, run_script

INVENTED = scenario(
    "items are counted",
    add_item(),
    step("/items/count", 200, at("$.count", 1), headers={"x-total": "1"}),
    why=REQUEST,
)
LOOSE, FITTED = (
    scenario("items are counted", add_item(), step("/items/count", 200, count), why=REQUEST)
    for count in (at("$.count", op="exists"), at("$.count", 2))
)
SAID = {"expectation": "header x-total contains", "reason": "neither the request nor the plan has it"}
WRONG = COUNT.replace("len(ITEMS)", "len(ITEMS) + 1")


def ruling(amended: Any = None, quote: str = REQUEST) -> dict[str, Any]:
    """What the verifier says when it is asked again."""
    one = {"scenario": "items are counted", "quote": quote, "reason": "no words ask for it"}
    return {"rulings": [{**one, "amended": amended} if amended else one]}


def script(scenarios: list[Any], rulings: list[Any], code: str = COUNT, **again: Any) -> dict[str, Any]:
    """A run whose executor writes this code, and answers so when it is sent back."""
    work = [call("write_file", path="routes.py", content=ROUTES + code), submit(DONE)]
    return {
        "planner": [{"replies": [submit(PLAN)]}],
        "verifier": [
            {"when": "This is the only time you are asked", "replies": [submit(one) for one in rulings]},
            {"replies": [submit({"scenarios": scenarios})]},
        ],
        "executor": [
            {"when": "What has to be mended", "replies": [submit({**DONE, **again})]},
            {"replies": work},
        ],
    }


def run(place: Path, lines: Any, verification: int = 2, **environment: str) -> tuple[Project, Outcome]:
    """`harness run` with this script."""
    project = make_project(place)
    return project, run_script(project, REQUEST, lines, verification, environment)


def test_an_invented_header_is_amended_once_and_the_change_accepted(tmp_path: Path) -> None:
    """The executor disputes it, the verifier takes it back, and everything about it is written down."""
    project, outcome = run(tmp_path, script([INVENTED], [ruling(COUNTS)], disputes=[SAID]))
    assert outcome.accepted, outcome.said
    (disputed,), (amended,) = facts(project, ScenariosDisputed), facts(project, ScenariosAmended)
    assert disputed.missed[0].failed == ("header x-total contains",)
    assert disputed.disputes[0].reason == SAID["reason"]
    assert amended.original != amended.digest
    assert "amended, once: items are counted: no words ask for it" in outcome.said
    assert '"x-total": "1"' in outcome.said
    report = json.loads(project.report.read_text())
    assert (report["accepted"], report["amended_scenarios"]) == (True, ["items are counted"])


def test_what_was_missed_twice_is_looked_at_without_a_dispute(tmp_path: Path) -> None:
    """An executor that finds nothing to mend need not know the words for it."""
    project, outcome = run(tmp_path, script([INVENTED], [ruling(COUNTS)]))
    assert outcome.accepted, outcome.said
    assert facts(project, ScenariosDisputed)[0].disputes == ()


def test_a_real_defect_is_upheld_and_refused(tmp_path: Path) -> None:
    """The words ask for what failed, whatever the executor says."""
    said = {"expectation": "count", "reason": "counting from one is fine"}
    project, outcome = run(tmp_path, script([COUNTS], [ruling()], WRONG, disputes=[said]), 1)
    assert not outcome.accepted
    assert "items are counted fails on the change too" in outcome.said
    assert "upheld: items are counted" in outcome.said
    (amended,) = facts(project, ScenariosAmended)
    assert amended.original == amended.digest


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (ruling(FITTED), "may leave out or loosen what failed, not expect something else: $.count"),
        ({"rulings": []}, "rule once on each of these"),
        (ruling(quote="counting is hard for everybody"), "does not quote the request"),
    ],
    ids=["fitted", "dropped", "unquoted"],
)
def test_a_verifier_that_weakens_or_drops_is_not_followed(tmp_path: Path, reply: Any, why: str) -> None:
    """It is told why, three times; then the scenario stands, and the defect is refused."""
    project, outcome = run(tmp_path, script([COUNTS], [reply] * 3, WRONG, disputes=[SAID]), 1)
    assert not outcome.accepted
    assert "items are counted fails on the change too" in outcome.said
    (amended,) = facts(project, ScenariosAmended)
    assert amended.rulings[0].amended is None
    assert why in amended.rulings[0].reason


def test_a_scenario_that_is_loosened_to_nothing_is_refused_as_too_weak(tmp_path: Path) -> None:
    """The rules let a value that failed go; what is left has to notice a wrong answer all the same."""
    _, outcome = run(tmp_path, script([COUNTS], [ruling(LOOSE)], WRONG, disputes=[SAID]), 1)
    assert not outcome.accepted
    assert "a scenario was amended and is too weak" in outcome.said


def test_nobody_is_asked_twice(tmp_path: Path) -> None:
    """The invented header is taken back; the wrong count still fails, and is refused without another look."""
    both = script([INVENTED], [ruling(COUNTS)], WRONG, disputes=[SAID])
    both["verifier"][0]["replies"] = [submit(ruling(COUNTS))]
    project, outcome = run(tmp_path, both, 3)
    assert not outcome.accepted
    assert len(facts(project, ScenariosAmended)) == 1
    assert sum(fact.role == "verifier" for fact in facts(project, AgentAsked)) == 2


def test_a_crash_while_the_verifier_is_asked_changes_nothing(tmp_path: Path) -> None:
    """The question was written down; it is asked again, and ruled on once."""
    lines = script([INVENTED], [ruling(COUNTS)], disputes=[SAID])
    project, killed = run(tmp_path, lines, HARNESS_FAULT="agent.answered#5=kill")
    assert not killed.accepted
    assert (len(facts(project, ScenariosDisputed)), len(facts(project, ScenariosAmended))) == (1, 0)
    resumed = project.outcome("resume")
    assert resumed.accepted, resumed.said
    assert (len(facts(project, ScenariosDisputed)), len(facts(project, ScenariosAmended))) == (1, 1)
