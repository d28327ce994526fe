"""What does a change offer that no scenario touches?"""

from dataclasses import replace

import pytest

from harness_executor.kernel import events as e
from harness_executor.kernel.acts import Call, Language, Probe, Program
from harness_executor.kernel.amending import Ruling
from harness_executor.kernel.belief import claim_of, unearned
from harness_executor.kernel.events import Fact, StepName
from harness_executor.kernel.gate import judge
from harness_executor.kernel.offering import ANY, RUN, Offer, untouched
from harness_executor.kernel.policy import Do, decide
from harness_executor.kernel.report import Meaning
from harness_executor.kernel.retries import Policy
from harness_executor.kernel.revisions import (
    ScenariosAdded,
    ScenariosAmended,
    ScenariosDisputed,
    ScenariosRequested,
)
from harness_executor.kernel.scenario import Scenario, Step, scenarios_digest
from harness_executor.kernel.task import Task, replay
from tests.kernel.examples import BASE, BASE_TREE, TASK_ID
from tests.kernel.test_amending import FROZEN, HONEST, SHORT, expecting
from tests.kernel.test_belief import EVIDENCE


def asking(*steps: Step) -> Scenario:
    """A scenario with these steps."""
    return Scenario("asks", "because", steps)


@pytest.mark.parametrize(
    ("offer", "call"),
    [
        (Offer("GET", "/items"), Call("/items")),
        (Offer("GET", "/items"), Call("/items?page=2")),
        (Offer("GET", "/items/"), Call("/items")),
        (Offer("HEAD", "/items"), Call("/items")),
        (Offer("GET", "/items/{id}"), Call("/items/{{ id }}")),
        (Offer("GET", "/items/<int:id>"), Call("/items/7")),
        (Offer("GET", "/items/:id/done"), Call("/items/7/done")),
        (Offer("GET", "/items/count"), Call("/api/v1/items/count")),
        (Offer(ANY, "/items"), Call("/items", "POST")),
        (Offer("POST", "/items"), Call("/items", "post")),
        (Offer("GET", "/{{ where }}"), Call("/{{ where }}")),
        (Offer("GET", "/"), Call("/")),
    ],
)
def test_a_request_touches_the_route_it_leads_to(offer: Offer, call: Call) -> None:
    """Also below a prefix, with values that are drawn, and in any spelling of a parameter."""
    assert untouched([offer], [asking(Step(call))]) == ()


@pytest.mark.parametrize(
    ("offer", "call"),
    [
        (Offer("DELETE", "/items/{id}"), Call("/items/{{ id }}")),
        (Offer("GET", "/items/count"), Call("/items")),
        (Offer("GET", "/items"), Call("/items/count")),
        (Offer("GET", "/users/{id}"), Call("/items/{{ id }}")),
        (Offer("GET", "/"), Call("/items")),
        (Offer(RUN, "--count"), Call("/--count")),
    ],
)
def test_another_method_or_path_does_not_touch_it(offer: Offer, call: Call) -> None:
    """What was not asked was not shown."""
    assert untouched([offer], [asking(Step(call))]) == (offer,)


def test_a_word_of_a_command_line_has_to_be_used() -> None:
    """As a word of its own, or with a value behind it; a probe uses no command line."""
    offer = Offer(RUN, "--count", "cli.py")
    used = [("tool", "--count"), ("tool", "--count=3")]
    assert all(untouched([offer], [asking(Step(run=Program(argv)))]) == () for argv in used)
    for argv in (("tool", "--counted"), ("tool", "--", "-count"), ("tool",)):
        assert untouched([offer], [asking(Step(run=Program(argv)))]) == (offer,)
    assert untouched([offer], [asking(Step(probe=Probe(Language.PYTHON, "'--count'")))]) == (offer,)


def test_an_offer_says_where_it_is() -> None:
    """For the verifier and for people."""
    assert str(Offer("GET", "/items/count", "app.py")) == "GET /items/count (app.py)"
    assert str(Offer(RUN, "--count")) == "`--count` on the command line"


DIGEST = scenarios_digest(FROZEN)
OFFER = Offer("DELETE", "/items/{id}", "app.py")
MADE = e.ChangeMade(1, 1, "tree-1", "", "", ("app.py",), (), offers=(OFFER,))
BEGUN: list[Fact] = [
    e.TaskOpened(TASK_ID, "count the items", e.Mode.IMPLEMENT, e.Driver.RUNNER, BASE, BASE_TREE),
    *(e.ProjectRead("", {}), e.LessonsFound(()), e.ScenariosFrozen(FROZEN, DIGEST), e.PlanApproved("policy")),
    *(MADE, e.PhaseExecuted(1, "tree-1", "c1"), e.Validated("tree-1", ())),
]
MORE = replace(FROZEN[0], name="items can be removed")
REQUESTED = ScenariosRequested((OFFER,))
ADDED = ScenariosAdded((MORE,), scenarios_digest((MORE,)), scenarios_digest((*FROZEN, MORE)))
NONE = ScenariosAdded((), scenarios_digest(()), DIGEST)


def step(*facts: Fact) -> StepName:
    """The step that is next."""
    decision = decide(replay(facts), Policy())
    assert isinstance(decision, Do)
    return decision.step


def with_first(fact: Fact) -> list[Fact]:
    """The beginning with another first fact."""
    return [fact, *BEGUN[1:]]


def test_more_is_asked_for_once_before_the_first_verification() -> None:
    """Also after a crash, with the same question; an empty answer is an answer."""
    assert step(*BEGUN) is StepName.EXTEND
    assert step(*BEGUN, REQUESTED) is StepName.EXTEND
    assert replay([*BEGUN, REQUESTED]).untouched == (OFFER,)
    assert step(*BEGUN, REQUESTED, ADDED) is StepName.VERIFY
    assert step(*BEGUN, REQUESTED, NONE) is StepName.VERIFY
    again = [e.PhaseExecuted(1, "tree-2", "c2"), e.Validated("tree-2", ())]
    assert step(*BEGUN, REQUESTED, NONE, *again) is StepName.VERIFY


def test_nothing_is_asked_for_where_nothing_is_untouched() -> None:
    """Nor for a refactoring, nor where no scenarios were frozen, nor of a tree that is gone."""
    plain = [replace(fact, offers=()) if isinstance(fact, e.ChangeMade) else fact for fact in BEGUN]
    assert step(*plain) is StepName.VERIFY
    asked = FROZEN[0].steps[0].request
    assert asked is not None
    touched = replace(MADE, offers=(Offer(asked.method, asked.path),))
    assert step(*[touched if fact is MADE else fact for fact in BEGUN]) is StepName.VERIFY
    opened = BEGUN[0]
    assert isinstance(opened, e.TaskOpened)
    assert step(*with_first(replace(opened, refactor=True))) is StepName.VERIFY
    assert step(*BEGUN, e.PhaseExecuted(1, "tree-2", "c2"), e.Validated("tree-2", ())) is StepName.VERIFY


def test_added_scenarios_stand_beside_the_frozen_ones() -> None:
    """Together they are what the claim is bound to; none that was frozen goes or changes."""
    task = replay([*BEGUN, REQUESTED, ADDED])
    assert task.scenarios == (*FROZEN, MORE)
    assert task.scenario_digest == ADDED.whole
    claim = claim_of(task)
    assert (claim.scenario_digest, claim.added) == (ADDED.whole, (MORE.name,))
    assert replay([*BEGUN, REQUESTED, NONE]).scenario_digest == DIGEST


def says(*facts: Fact) -> str:
    """What a log with these facts at its end cannot know."""
    return unearned(TASK_ID, [*BEGUN, *facts], lambda _sealed: True)


def test_believes_an_addition_only_if_it_was_asked_for_and_takes_nothing_away() -> None:
    """Once, after the question, before any dispute, with digests that are right and names of their own."""
    unfair = "adds scenarios in a way that nobody may"
    assert says(REQUESTED, ADDED) == says(REQUESTED, NONE) == ""
    assert says(ADDED) == unfair
    assert says(REQUESTED, replace(ADDED, digest="0" * 64)) == unfair
    assert says(REQUESTED, replace(ADDED, whole=DIGEST)) == unfair
    assert says(ScenariosDisputed((SHORT,)), REQUESTED, ADDED) == unfair
    twin = (replace(MORE, name=FROZEN[0].name),)
    same = ScenariosAdded(twin, scenarios_digest(twin), scenarios_digest((*FROZEN, *twin)))
    assert says(REQUESTED, same) == unfair
    assert says(REQUESTED, ADDED, ADDED) == "adds scenarios twice"
    assert says(REQUESTED, REQUESTED) == "asks for more scenarios twice"


def test_what_was_added_can_be_amended_like_the_others() -> None:
    """The ruling is over all of them, and its digest too."""
    new = replace(expecting(HONEST), name=MORE.name)
    short = replace(SHORT, scenario=MORE.name)
    ruling = Ruling(MORE.name, "count the items", "invented", new)
    amended = ScenariosAmended(ADDED.whole, scenarios_digest((*FROZEN, new)), (ruling,))
    assert says(REQUESTED, ADDED, ScenariosDisputed((short,)), amended) == ""
    assert replay([*BEGUN, REQUESTED, ADDED, ScenariosDisputed((short,)), amended]).scenarios[-1] == new


def test_an_added_scenario_refuses_and_never_proves() -> None:
    """It was written when the change was there."""
    proofs = [finding.name for finding in EVIDENCE.of(Meaning.PROVES)]
    opened = e.TaskOpened(
        EVIDENCE.task_id, "", e.Mode.IMPLEMENT, e.Driver.RUNNER, EVIDENCE.base_commit, EVIDENCE.base_tree
    )
    task = replay(
        [opened, e.ScenariosFrozen((), EVIDENCE.scenario_digest), e.PhaseExecuted(1, EVIDENCE.tree, "c")]
    )
    assert isinstance(task, Task)
    claim = claim_of(task)
    assert judge(claim, EVIDENCE, seal_is_valid=True).accepted
    refused = judge(replace(claim, added=tuple(proofs)), EVIDENCE, seal_is_valid=True)
    assert refused.reasons == ("no scenario failed before and passes now",)
    failing = tuple(replace(one, meaning=Meaning.MISSING) for one in EVIDENCE.of(Meaning.PROVES)[:1])
    worse = replace(EVIDENCE, findings=(*EVIDENCE.findings, *(replace(one, name="more") for one in failing)))
    (reason,) = judge(replace(claim, added=("more",)), worse, seal_is_valid=True).reasons
    assert reason.startswith("more fails on the change too")
