"""Scenarios on a real server: values, captures, and where they end."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness_executor.clock import SystemClock
from harness_executor.evidence.ground import Ground
from harness_executor.evidence.runner import run_scenario
from harness_executor.kernel.acts import Call
from harness_executor.kernel.expectation import Expect, JsonCheck, Op
from harness_executor.kernel.report import ScenarioRun, explain
from harness_executor.kernel.scenario import Scenario, Step
from tests.evidence.apps import Reply, Seen, equals, get, http_server, nobody, scenario


def answer(method: str, path: str, body: bytes) -> Reply:
    """POST gives back what it got with an id, /odd odd values, /missing nothing, the rest its path."""
    if path == "/missing":
        return 404, {}, b"{}"
    if path == "/odd":
        return 200, {}, json.dumps({"to": "@127.0.0.2/", "regex": "(", "list": [1, 2]}).encode()
    if method == "POST":
        given = json.loads(body) if body else None
        return 201, {"x-kind": "made"}, json.dumps({"id": 41, "given": given}).encode()
    return 200, {}, json.dumps({"path": path}).encode()


@pytest.fixture
def server() -> Iterator[Seen]:
    """A server that echoes."""
    with http_server(answer) as seen:
        yield seen


def run(what: Scenario, url: str, seed: str = "seed") -> ScenarioRun:
    """A scenario on a server."""
    return run_scenario(what, Ground(SystemClock(), url), seed)


def post(value: Any, **step: Any) -> Step:
    """One POST of a JSON value."""
    return Step(Call("/things", "POST", json=value), Expect(201), **step)


def test_a_scenario_passes_when_every_step_does(server: Seen) -> None:
    """All steps are carried out in order, each with its comparisons."""
    done = run(
        scenario("two", get("/a", 200, equals("$.path", "/a")), get("/b", description="b")), server.url
    )
    assert done.passed
    assert [len(step.assertions) for step in done.steps] == [2, 1]
    assert [step.description for step in done.steps] == ["", "b"]
    assert server.paths() == ["/a", "/b"]


def test_a_scenario_ends_at_the_first_step_that_fails(server: Seen) -> None:
    """What comes after a failed step is not sent."""
    done = run(scenario("stop", get("/a"), get("/missing"), get("/c")), server.url)
    assert not done.passed
    assert not done.complete
    assert server.paths() == ["/a", "/missing"]
    assert explain(done) == "GET /missing: status_code: expected 200, got 404"


def test_a_step_without_an_answer_fails() -> None:
    """No answer is a failure that says why, and nothing is captured from it."""
    done = run(scenario("gone", get("/a", capture={"id": "$.id"}), get("/b")), nobody())
    assert not done.passed
    assert len(done.steps) == 1
    assert explain(done).startswith("GET /a: no answer: ConnectError")


def test_a_scenario_without_steps_does_not_pass(server: Seen) -> None:
    """Nothing compared is nothing passed."""
    assert not run(scenario("empty"), server.url).passed


def test_a_captured_value_is_used_later(server: Seen) -> None:
    """What one answer says goes into paths, headers, bodies and expectations of later steps."""
    later = Step(
        Call("/things", "POST", {"X-Id": "{{ id }}"}, json={"same": "{{ id }}", "text": "no {{ id }}"}),
        Expect(
            201,
            {"x-kind": "made"},
            (equals("$.given", {"same": "{{ id }}", "text": "no 41"}), equals("$.id", "{{ id }}")),
            body_contains=("{{ id }}",),
            body_not_contains=("{{ all }}!",),
            body_matches=("{{ id }}",),
        ),
    )
    first = post({}, capture={"id": "$.id", "all": "$[*]"})
    done = run(
        scenario("capture", first, get("/things/{{ id }}", 200, equals("$.path", "/things/41")), later),
        server.url,
    )
    assert done.passed, explain(done)
    assert server.paths() == ["/things", "/things/41", "/things"]
    assert server.headers()["x-id"] == "41"
    assert done.steps[2].expect.body_contains == ("41",)


def test_a_captured_value_goes_into_a_raw_body(server: Seen) -> None:
    """A raw body is filled like any other text."""
    raw = Step(Call("/things", "POST", body='{"a": {{ id }}}'), Expect(201, json=(equals("$.given.a", 41),)))
    assert run(scenario("raw", post({}, capture={"id": "$.id"}), raw), server.url).passed


def test_a_value_that_is_not_there_cannot_be_captured(server: Seen) -> None:
    """A missing capture fails the scenario, and the step it came from is kept."""
    done = run(scenario("lost", get("/a", capture={"id": "$.id"}), get("/b")), server.url)
    assert not done.passed
    assert len(done.steps) == 1
    assert explain(done) == "the answer has nothing at $.id"


def test_an_unknown_name_is_told(server: Seen) -> None:
    """A name that nobody captured fails the scenario before its request is sent."""
    done = run(scenario("who", get("/a"), get("/{{ nobody }}")), server.url)
    assert not done.passed
    assert done.error == "nobody was not captured by an earlier step"
    assert server.paths() == ["/a"]


def test_an_unknown_kind_of_value_is_told(server: Seen) -> None:
    """Only some kinds of values can be drawn."""
    done = run(scenario("what", get("/a"), let={"x": "{{ random.colour }}"}), server.url)
    assert "random.colour is not known" in done.error
    assert server.paths() == []


def test_drawn_values_are_the_same_for_one_seed_and_differ_for_another(server: Seen) -> None:
    """Both sides of a comparison get the same values, and the next comparison gets others."""
    what = scenario(
        "drawn",
        post(
            {"title": "{{ title }}", "again": "{{ title }}", "fresh": "{{ random.int }}", "who": "{{ who }}"}
        ),
        get("/{{ title }}/{{ random.uuid }}"),
        let={"title": "{{ random.word }}", "who": "{{ title }} <{{ random.email }}>"},
    )
    sent = []
    for seed in ("one", "one", "two"):
        assert run(what, server.url, seed).passed
        sent.append((json.loads(server.requests[-2][3]), server.paths()[-1]))
    assert sent[0] == sent[1]
    assert sent[0] != sent[2]
    body, path = sent[0]
    assert body["title"] == body["again"]
    assert isinstance(body["fresh"], int)
    assert body["who"].startswith(f"{body['title']} <")
    assert path.startswith(f"/{body['title']}/")


def test_scenarios_of_one_seed_draw_different_values(server: Seen) -> None:
    """Two scenarios do not meet the same drawn values."""
    for name in ("first", "second"):
        run(scenario(name, post({"title": "{{ title }}"}), let={"title": "{{ random.word }}"}), server.url)
    assert server.requests[0][3] != server.requests[1][3]


def test_a_server_cannot_send_the_harness_elsewhere(server: Seen) -> None:
    """A captured value that makes another address of a path is no answer."""
    done = run(scenario("away", get("/odd", capture={"to": "$.to"}), get("{{ to }}")), server.url)
    assert not done.passed
    assert "does not start with /" in explain(done)


def test_a_captured_value_cannot_break_the_harness(server: Seen) -> None:
    """A value that is no regular expression, put into one, fails a comparison and no more."""
    bad = Step(Call("/a"), Expect(200, json=(JsonCheck("$.path", Op.MATCHES, "{{ regex }}"),)))
    worse = Step(Call("/a"), Expect(200, body_matches=("{{ regex }}",)))
    worst = Step(Call("/a"), Expect(200, json=(JsonCheck("$['{{ regex }}'']", Op.EXISTS),)))
    for step in (bad, worse, worst):
        done = run(scenario("odd", get("/odd", capture={"regex": "$.regex"}), step), server.url)
        assert not done.passed
        assert len(done.steps) == 2


def test_a_path_made_of_a_list_is_a_text(server: Seen) -> None:
    """Any captured value has one text in a path."""
    assert run(
        scenario("list", get("/odd", capture={"all": "$.list"}), get("/x{{ all }}")), server.url
    ).complete
    assert server.paths()[-1] == "/x[1,2]"


def test_cookies_do_not_pass_from_one_scenario_to_the_next() -> None:
    """Each scenario is a user of its own."""
    with http_server(lambda *_: (200, {"set-cookie": "s=1"}, b"{}")) as seen:
        for name in ("first", "second"):
            run(scenario(name, get("/a"), get("/b")), seen.url)
    assert [headers.get("cookie") for _, _, headers, _ in seen.requests] == [None, "s=1", None, "s=1"]
