"""Facts about scenarios that were looked at again, and what they do to a task."""

from dataclasses import replace

from harness_executor.kernel import events as e
from harness_executor.kernel.amending import Dispute, Ruling
from harness_executor.kernel.belief import claim_of, unearned
from harness_executor.kernel.events import Fact, StepName
from harness_executor.kernel.policy import Do, decide
from harness_executor.kernel.retries import Policy
from harness_executor.kernel.revisions import ScenariosAmended, ScenariosDisputed
from harness_executor.kernel.scenario import scenarios_digest
from harness_executor.kernel.task import replay
from tests.kernel.examples import BASE, BASE_TREE, EVIDENCE, TASK_ID
from tests.kernel.test_amending import FROZEN, HONEST, SHORT, expecting

DIGEST = scenarios_digest(FROZEN)
MADE = e.ChangeMade(1, 1, "tree-1", "", "", ("app.py",), ())
DISPUTING = replace(MADE, disputes=(Dispute("x-total", "nobody said so"),))
DONE = e.PhaseExecuted(1, "tree-1", "c1")
GREEN = e.Validated("tree-1", ())
MISSED = e.Verified(EVIDENCE, ("missing: counts",), (SHORT,))
BEGUN: list[Fact] = [
    e.TaskOpened(TASK_ID, "count the items", e.Mode.IMPLEMENT, e.Driver.RUNNER, BASE, BASE_TREE),
    *(e.ProjectRead("", {}), e.LessonsFound(()), e.ScenariosFrozen(FROZEN, DIGEST), e.PlanApproved("policy")),
    *(MADE, DONE, GREEN, MISSED),
]
AGAIN: list[Fact] = [*BEGUN, MADE, DONE, GREEN, MISSED]
DISPUTED = ScenariosDisputed((SHORT,))
NEW = expecting(HONEST)
RULING = Ruling("counts", "count the items", "invented", NEW)
AMENDED = ScenariosAmended(DIGEST, scenarios_digest((NEW, FROZEN[1])), (RULING,))
UPHELD = ScenariosAmended(DIGEST, DIGEST, (replace(RULING, amended=None),))


def step(*facts: Fact, caps: Policy | None = None) -> StepName:
    """The step that is next."""
    decision = decide(replay(facts), caps or Policy())
    assert isinstance(decision, Do)
    return decision.step


def test_work_that_failed_once_goes_back_to_the_executor() -> None:
    """Most of the time the change is wrong."""
    assert step(*BEGUN) is StepName.EXECUTE
    assert step(*BEGUN, caps=Policy(verification=0)) is StepName.RECORD


def test_what_fails_twice_or_is_disputed_is_looked_at_again() -> None:
    """The same scenario after one mending, or any that the executor says nobody asked for."""
    assert step(*AGAIN) is StepName.AMEND
    assert step(*AGAIN, caps=Policy(verification=1)) is StepName.AMEND
    assert step(*BEGUN, DISPUTING, DONE, GREEN, MISSED) is StepName.AMEND
    other = replace(MISSED, missing=(replace(SHORT, scenario="lists"),))
    assert step(*BEGUN, MADE, DONE, GREEN, other) is StepName.EXECUTE


def test_an_interrupted_look_is_taken_again_with_the_same_question() -> None:
    """What was disputed is written before the verifier is asked."""
    task = replay([*AGAIN, DISPUTED, e.WriterClaimed("another")])
    assert task.contested == (SHORT,)
    assert step(*AGAIN, DISPUTED) is StepName.AMEND


def test_amended_scenarios_are_tried_on_the_same_tree() -> None:
    """They are what the claim is bound to from then on, and are named there."""
    task = replay([*AGAIN, DISPUTED, AMENDED])
    assert step(*AGAIN, DISPUTED, AMENDED) is StepName.VERIFY
    assert task.scenarios == (NEW, FROZEN[1])
    assert (task.scenario_digest, task.feedback) == (AMENDED.digest, ())
    claim = claim_of(task)
    assert (claim.scenario_digest, claim.amended) == (AMENDED.digest, ("counts",))


def test_an_upheld_scenario_goes_back_with_the_words_that_ask_for_it() -> None:
    """The executor is told once more, and the gate refuses when its tries are used up."""
    task = replay([*AGAIN, DISPUTED, UPHELD])
    assert task.feedback[-1].endswith("as this asks for it: count the items")
    assert step(*AGAIN, DISPUTED, UPHELD) is StepName.EXECUTE
    assert step(*AGAIN, DISPUTED, UPHELD, caps=Policy(verification=1)) is StepName.RECORD
    assert claim_of(task).amended == ()


def test_nobody_is_asked_twice() -> None:
    """After one ruling, failing again and disputing again change nothing."""
    facts = [*AGAIN, DISPUTED, AMENDED, MISSED]
    assert step(*facts, caps=Policy(verification=9)) is StepName.EXECUTE
    assert step(*facts, DISPUTING, DONE, GREEN, MISSED, caps=Policy(verification=9)) is StepName.EXECUTE


def says(*facts: Fact) -> str:
    """What a log with these facts at its end cannot know."""
    return unearned(TASK_ID, [*AGAIN, *facts], lambda _sealed: True)


def test_believes_an_amendment_only_if_it_was_allowed() -> None:
    """Once, after a dispute, from the frozen digest to the one it makes, and by the rules."""
    unfair = "amends the scenarios in a way that nobody may"
    assert says(DISPUTED, AMENDED) == ""
    assert says(DISPUTED, UPHELD) == ""
    assert says(AMENDED) == unfair
    assert says(DISPUTED, replace(AMENDED, original="0" * 64)) == unfair
    assert says(DISPUTED, replace(AMENDED, digest="0" * 64)) == unfair
    weaker = replace(RULING, amended=replace(NEW, steps=NEW.steps[:1]))
    assert says(DISPUTED, replace(AMENDED, rulings=(weaker,))) == unfair
    assert says(DISPUTED, AMENDED, AMENDED) == "amends the scenarios twice"
    assert says(DISPUTED, DISPUTED) == "disputes the scenarios twice"
