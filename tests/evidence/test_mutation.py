"""Would a scenario notice a broken answer? Each way to break one, and who notices."""

import json
from typing import Any

import pytest

from harness_executor.evidence.mutation import EMPTY, KEY, LOCATION, STATUS, TEXT, VALUE, strength_of
from harness_executor.kernel.expect import Answer, check
from harness_executor.kernel.report import Exchange, ScenarioRun, StepRun
from harness_executor.kernel.scenario import Expect, JsonCheck, Op
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
    assert found.survived == ()
    assert found.mutants == found.killed == 2


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
    assert (found.mutants, found.killed) == (6, 6)
    weak = strength_of(ScenarioRun("s", (step(Expect(200), {"a": 1}),), complete=True))
    assert (weak.mutants, weak.killed) == (6, 2)


def test_a_large_answer_is_broken_in_some_places_only() -> None:
    """The work stays bounded however large an answer is."""
    found = strength_of(ScenarioRun("s", (step(Expect(200), list(range(5_000))),), complete=True))
    assert found.mutants < 100


def test_a_step_without_an_answer_adds_nothing() -> None:
    """Where nothing came back there is nothing to break."""
    unanswered = StepRun("", Exchange("GET", "http://x/", {}, None, None, "no answer"), Expect(200), ())
    assert strength_of(ScenarioRun("s", (unanswered,), complete=False)).mutants == 0
