"""Would a scenario notice a broken answer? Each way to break one, and who notices."""

import json
from typing import Any

import pytest

from harness_executor.evidence.breaking import EMPTY, KEY, LOCATION, STALE, STATUS, TEXT, VALUE
from harness_executor.evidence.mutation import Script, Strength, strength_of
from harness_executor.kernel.acts import Call
from harness_executor.kernel.expect import Answer, check
from harness_executor.kernel.expectation import Expect, JsonCheck, Op
from harness_executor.kernel.filling import filled
from harness_executor.kernel.report import Exchange, ScenarioRun, StepRun
from harness_executor.kernel.scenario import Scenario, Step
from tests.evidence.apps import equals

ITEM = {"id": 7, "name": "pen", "tags": ["a", "b"], "size": {"cm": 1.5, "big": False, "note": None}}


def step(expect: Expect, body: Any, status: int = 200, **more: Any) -> StepRun:
    """A step that was answered like this, and passed."""
    text = body if isinstance(body, str) else json.dumps(body)
    headers = tuple(more.pop("headers", {}).items())
    answer = Answer(status, headers, text)
    done = StepRun("", Exchange("GET", "http://x/", {}, None, answer), expect, check(expect, answer), **more)
    assert done.passed
    return done


def survivors(*steps: StepRun) -> set[str]:
    """The classes of broken answers that nobody notices."""
    return set(strength_of(ScenarioRun("s", steps, complete=True)).survived)


def test_a_check_of_the_status_alone_notices_little() -> None:
    """A scenario that looks only at the status would accept any body."""
    assert survivors(step(Expect(200), ITEM)) == {EMPTY, KEY, VALUE}


def test_a_check_of_one_value_is_enough() -> None:
    """A value that is compared notices an empty body, a dropped key and a changed value."""
    assert survivors(step(Expect(200, json=(equals("$.name", "pen"),)), ITEM)) == set()


def test_a_key_that_only_has_to_be_there_does_not_notice_values() -> None:
    """Existence says nothing about the value."""
    assert survivors(step(Expect(200, json=(JsonCheck("$.name", Op.EXISTS),)), ITEM)) == {VALUE}


def test_a_type_does_not_notice_another_value_of_that_type() -> None:
    """A type is no value."""
    assert survivors(step(Expect(200, json=(JsonCheck("$.id", Op.TYPE, "integer"),)), ITEM)) == {VALUE}


def test_a_class_of_statuses_still_notices_other_classes() -> None:
    """2xx is not 200, but a 500 is noticed."""
    assert STATUS not in survivors(step(Expect("2xx"), ITEM))
    assert STATUS in survivors(step(Expect((200, 404, 500)), ITEM))


@pytest.mark.parametrize("status", [400, 404, 422, 500])
def test_an_error_needs_no_look_at_its_body(status: int) -> None:
    """For an answer outside 2xx the status is the point."""
    found = strength_of(ScenarioRun("s", (step(Expect(status), {"error": "no"}, status),), complete=True))
    assert found.survived == found.overlooked == ()
    assert found.mutants == found.killed == (2 if status == 500 else 3)


def test_an_answer_without_a_body_needs_no_look_at_it() -> None:
    """There is nothing in a 204 to break."""
    assert survivors(step(Expect(204), "", 204)) == set()
    assert survivors(step(Expect(200), " \n", 200)) == set()


def test_a_redirect_needs_a_look_at_where_it_leads() -> None:
    """A redirect to anywhere is not the redirect that was asked for."""
    there = {"Location": "/login", "x-other": "kept"}
    assert survivors(step(Expect(302), "", 302, headers=there)) == {LOCATION}
    assert survivors(step(Expect(302, {"location": "/login"}), "", 302, headers=there)) == set()
    assert survivors(step(Expect(304), "", 304)) == set()


def test_a_text_needs_a_look_at_its_words() -> None:
    """A body that is no JSON is broken as a text."""
    assert survivors(step(Expect(200), "Hello, Ann")) == {EMPTY, TEXT}
    assert survivors(step(Expect(200, body_contains=("Hello",)), "Hello, Ann")) == set()
    assert survivors(step(Expect(200, body_matches=("^.+$",)), "Hello, Ann")) == {TEXT}
    assert survivors(step(Expect(200, body_not_contains=("Bye",)), "Hello, Ann")) == {EMPTY, TEXT}


def test_a_captured_value_notices_that_it_is_gone() -> None:
    """A scenario that needs a value for its next step notices when it is missing."""
    assert survivors(step(Expect(200), ITEM, capture={"id": "$.id"})) == {VALUE}


def test_steps_notice_for_each_other() -> None:
    """A scenario is as strong as all its steps together."""
    weak = step(Expect(200), ITEM)
    strong = step(Expect(200, json=(equals("$.id", 7),)), ITEM)
    assert survivors(weak, strong) == set()
    assert survivors(weak, step(Expect(404), "", 404)) == {EMPTY, KEY, VALUE}


@pytest.mark.parametrize(
    ("body", "expect"),
    [
        (5, Expect(200, json=(equals("$", 5),))),
        (True, Expect(200, json=(equals("$", True),))),
        ("text", Expect(200, json=(equals("$", "text"),))),
        (None, Expect(200, json=(equals("$", None),))),
        ([1, 2], Expect(200, json=(equals("$[1]", 2),))),
        ([], Expect(200, json=(equals("$", []),))),
        ({}, Expect(200, json=(equals("$", {}),))),
        ([{"a": None}], Expect(200, json=(equals("$[0].a", None),))),
        ({"a": 1.5, "b": False}, Expect(200, json=(equals("$", {"a": 1.5, "b": False}),))),
    ],
    ids=repr,
)
def test_every_kind_of_value_can_be_broken(body: Any, expect: Expect) -> None:
    """Numbers, texts, flags, nothing, lists and objects are all changed to something else."""
    text = json.dumps(body)
    assert survivors(step(expect, text)) == set()
    assert strength_of(ScenarioRun("s", (step(Expect(200), text),), complete=True)).survived != ()


def test_counts_what_was_made_and_noticed() -> None:
    """Every broken answer is counted once."""
    found = strength_of(
        ScenarioRun("s", (step(Expect(200, json=(equals("$.a", 1),)), {"a": 1}),), complete=True)
    )
    assert (found.mutants, found.killed) == (8, 8)
    weak = strength_of(ScenarioRun("s", (step(Expect(200), {"a": 1}),), complete=True))
    assert (weak.mutants, weak.killed) == (8, 3)


def test_a_large_answer_is_broken_in_some_places_only() -> None:
    """The work stays bounded however large an answer is."""
    found = strength_of(ScenarioRun("s", (step(Expect(200), list(range(5_000))),), complete=True))
    assert found.mutants < 200


def test_what_no_proof_has_to_notice_is_counted_and_named() -> None:
    """A class that good scenarios may leave open lowers the score and refuses nothing."""
    loose = strength_of(
        ScenarioRun("s", (step(Expect("2xx", json=(equals("$.a", 1),)), {"a": 1}),), complete=True)
    )
    assert loose.survived == ()
    assert loose.overlooked == ("another status of its class",)
    assert (loose.mutants, loose.killed) == (8, 7)


def test_an_answer_from_before_is_a_broken_answer() -> None:
    """Who asks the same twice should notice that the second answer is still the first."""
    before, after = {"name": "old", "n": 1}, {"name": "new", "n": 1}
    first = step(Expect(200), before)
    blind = step(Expect(200, json=(equals("$.n", 1),)), after)
    sharp = step(Expect(200, json=(equals("$.name", "new"),)), after)
    assert STALE in strength_of(ScenarioRun("s", (first, blind), complete=True), 1).overlooked
    assert STALE not in strength_of(ScenarioRun("s", (first, sharp), complete=True), 1).overlooked


def test_steps_before_the_first_that_counts_are_not_broken() -> None:
    """What passed on base already is left alone."""
    two = ScenarioRun("s", (step(Expect(200), ITEM), step(Expect(404), "", 404)), complete=True)
    assert strength_of(two, 1).survived == ()
    assert strength_of(two).survived == (EMPTY, KEY, VALUE)


COUNT, LIST = {"n": 2}, ["a", "b"]
LONG = JsonCheck("$", Op.LENGTH, "{{ n }}")


def remembered(*later: Step, since: int = 0) -> Strength:
    """How strong it is to remember a count, when each of these steps gets the list."""
    first = Step(Call("/count"), Expect(200), capture={"n": "$.n"})
    asked = Scenario("s", "why", (first, *later))
    count = step(first.expect, COUNT, capture=first.capture)
    known = [{"n": "a" if any(one.capture for one in later[:at]) else 2} for at in range(len(later))]
    filling = zip(later, known, strict=True)
    lists = (step(filled(one.expect, n, ""), LIST, capture=one.capture) for one, n in filling)
    done = ScenarioRun("s", (count, *lists), complete=True)
    return strength_of(done, since, Script(asked, "seed"))


def test_what_is_remembered_of_a_broken_answer_is_noticed_later() -> None:
    """A count that is compared with the length of a list cannot be another."""
    assert VALUE not in remembered(Step(Call("/list"), Expect(200, json=(LONG,)))).survived
    assert VALUE in remembered(Step(Call("/list"), Expect(200))).survived


def test_what_another_request_would_be_answered_is_not_known() -> None:
    """A remembered value that is sent decides what comes back, so nothing after it counts."""
    sent = Step(Call("/list/{{ n }}"), Expect(200))
    assert VALUE in remembered(Step(Call("/list?{{ n }}"), Expect(200, json=(LONG,)))).survived
    assert VALUE in remembered(sent, Step(Call("/list"), Expect(200, json=(LONG,)))).survived


def test_what_is_remembered_anew_is_not_broken_any_more() -> None:
    """A later step takes the place of the broken answer in the memory."""
    anew = Step(Call("/list"), Expect(200), capture={"n": "$[0]"})
    last = Step(Call("/list"), Expect(200, json=(JsonCheck("$", Op.CONTAINS, "{{ n }}"),)))
    of_first = remembered(anew, last).killed - remembered(anew, last, since=1).killed
    assert of_first == remembered().killed


def test_a_step_without_an_answer_adds_nothing() -> None:
    """Where nothing came back there is nothing to break."""
    unanswered = StepRun("", Exchange("GET", "http://x/", {}, None, None, "no answer"), Expect(200), ())
    assert strength_of(ScenarioRun("s", (unanswered,), complete=False)).mutants == 0
