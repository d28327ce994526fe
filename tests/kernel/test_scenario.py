"""Scenarios as data."""

from dataclasses import replace

import pytest

from harness_executor.kernel.acts import Call, Program
from harness_executor.kernel.expectation import Expect, JsonCheck, Op
from harness_executor.kernel.scenario import Kind, Scenario, Step, problem_of, scenarios_digest
from harness_executor.store.codec import build, plain
from tests.kernel.examples import SCENARIO


def scenario(*steps: Step, name: str = "items are listed", kind: Kind = Kind.NEW) -> Scenario:
    """A scenario with these steps."""
    return Scenario(name, "list the items", steps, kind)


def step(path: str = "/items", **expect: object) -> Step:
    """A step that asks for a path."""
    return Step(Call(path), Expect(**{"status": 200, **expect}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "good",
    [
        (SCENARIO,),
        (scenario(step()), scenario(step("{{ next }}"), name="the next page")),
        (scenario(step(status="5xx")),),
        (scenario(step(status=(404, 410)), kind=Kind.NEGATIVE),),
        (scenario(step(status="4xx"), step(), kind=Kind.NEGATIVE),),
        (scenario(step(), step(status=302), kind=Kind.NEGATIVE),),
    ],
)
def test_usable_scenarios_have_no_problem(good: tuple[Scenario, ...]) -> None:
    """What can be run is let through."""
    assert problem_of(good) == ""


BAD_PATH = JsonCheck("items[0]", Op.EXISTS)
BOTH = Step(Call("/items", "POST", json={}, body="x"), Expect(200))
RUN = Program(("cut",))
NOT_NEGATIVE = (
    "items are listed: a negative scenario needs a step that expects nothing but a 3xx or 4xx status"
)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ((), "there are no scenarios"),
        ((scenario(step()), scenario(step())), "two scenarios are called 'items are listed'"),
        ((scenario(),), "items are listed: it has no steps"),
        ((scenario(step("items")),), "items are listed: the path 'items' does not start with /"),
        (
            (scenario(step("/{{ random.nope }}")),),
            "items are listed: random.nope is not known; there are random.word",
        ),
        (
            (scenario(step("http://example.com/")),),
            "items are listed: the path 'http://example.com/' does not",
        ),
        ((scenario(step(), BOTH),), "items are listed: a request has one of json, body and form"),
        ((scenario(step(status="ok")),), "items are listed: the status 'ok' is not a number"),
        ((scenario(step(status="6xx")),), "items are listed: the status '6xx' is not a number"),
        ((scenario(step(json=(BAD_PATH,))),), "items are listed: a path starts with $, not 'items[0]'"),
        (
            (scenario(replace(step(), capture={"id": "id"})),),
            "items are listed: a path starts with $, not 'id'",
        ),
        ((scenario(step(body_matches=("(",))),), "items are listed: missing ), unterminated subpattern"),
        (
            (scenario(step(json=(JsonCheck("$", Op.MATCHES, "["),))),),
            "items are listed: unterminated character",
        ),
        (
            (scenario(step(body_matches=("a{9999999999}",))),),
            "items are listed: the repetition number is too",
        ),
        ((scenario(step(body_matches=("(" * 9999,))),), "items are listed: maximum recursion depth"),
        ((scenario(step(json=(JsonCheck(f"$[{'1' * 5000}]"),))),), "items are listed: cannot read"),
        ((scenario(step(), kind=Kind.NEGATIVE),), NOT_NEGATIVE),
        ((scenario(step(status=(200, 404)), kind=Kind.NEGATIVE),), NOT_NEGATIVE),
        ((scenario(step(status=()), kind=Kind.NEGATIVE),), NOT_NEGATIVE),
        ((scenario(step(status="5xx"), kind=Kind.NEGATIVE),), NOT_NEGATIVE),
        ((scenario(Step()),), "items are listed: a step has one of request, run, probe and query, not 0"),
        ((scenario(Step(Call("/"), run=RUN)),), "items are listed: a step has one of request, run, probe"),
        ((scenario(Step(run=Program(()))),), "items are listed: argv is empty"),
        ((scenario(Step(run=RUN, expect=Expect(200))),), "items are listed: status, headers and body are of"),
        ((scenario(Step(Call("/"), Expect(exit_code=0))),), "items are listed: a request has a status"),
        ((scenario(Step(run=RUN, expect=Expect(exit_code="bad"))),), "items are listed: the exit code 'bad'"),
        ((scenario(Step(run=RUN, expect=Expect(exit_code=(0, 1))), kind=Kind.NEGATIVE),), NOT_NEGATIVE),
    ],
)
def test_names_what_makes_scenarios_unusable(bad: tuple[Scenario, ...], problem: str) -> None:
    """Which scenario, and what is wrong with it."""
    assert problem_of(bad).startswith(problem)


def test_the_digest_survives_being_written_down() -> None:
    """Scenarios read back from a log have the digest they were frozen with."""
    again = build(Scenario, plain(SCENARIO))
    assert again == SCENARIO
    assert scenarios_digest((again,)) == scenarios_digest((SCENARIO,))


@pytest.mark.parametrize(
    "other",
    [
        replace(SCENARIO, name="items are summed"),
        replace(SCENARIO, kind=Kind.NEW),
        replace(SCENARIO, steps=SCENARIO.steps[:-1]),
        replace(SCENARIO, let={}),
        replace(SCENARIO, steps=(*SCENARIO.steps[:-1], step("/items/{{ id }}", status=(404,)))),
    ],
)
def test_any_change_changes_the_digest(other: Scenario) -> None:
    """A scenario cannot be swapped for an easier one unnoticed."""
    assert scenarios_digest((other,)) != scenarios_digest((SCENARIO,))


def test_the_order_of_scenarios_is_frozen_too() -> None:
    """The same scenarios in another order are another list."""
    one, two = scenario(step()), scenario(step(), name="other")
    assert scenarios_digest((one, two)) != scenarios_digest((two, one))


def test_scenarios_frozen_by_an_earlier_version_keep_their_digest() -> None:
    """A step that says nothing of where it comes from has the digest it had before steps could say it."""
    plain_one = Scenario("a", "b", (Step(Call("/"), Expect(200)),))
    assert (
        scenarios_digest((plain_one,)) == "38852b3e2be3f7b19ba845743a106e9a44bb43a6f37b3092be8b9a6c20a43511"
    )
    because = replace(plain_one, steps=(replace(plain_one.steps[0], because="b"),))
    assert scenarios_digest((because,)) != scenarios_digest((plain_one,))
