"""Exported scenarios, run by the tools they are exported for."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from harness_executor.evidence.formats.http_export import http_file
from harness_executor.evidence.formats.postman_export import postman
from harness_executor.kernel.acts import Call, Program
from harness_executor.kernel.expectation import Expect, JsonCheck, Op
from harness_executor.kernel.scenario import Scenario, Step
from tests.evidence.apps import Reply, http_server
from tests.runners import tool

SCENARIO = Scenario(
    "an item is kept",
    "w",
    (
        Step(
            Call("/items", "POST", json={"name": "{{ name }}"}),
            Expect(201, {"content-type": "json"}, (JsonCheck("$.id", Op.TYPE, "integer"),)),
            capture={"id": "$.id"},
        ),
        Step(
            Call("/items/{{ id }}"),
            Expect(
                (200, 203),
                json=(
                    JsonCheck("$.name", value="{{ name }}"),
                    JsonCheck("$.id", value="{{ id }}"),
                    JsonCheck("$.tags[*]", Op.SAME_ITEMS, ["b", "a"]),
                    JsonCheck("$.tags[-1]", value="b"),
                    JsonCheck("$.none", Op.ABSENT),
                    JsonCheck("$.id", Op.MORE_THAN, 6),
                ),
                body_contains=("tags",),
            ),
        ),
    ),
    let={"name": "{{ random.word }}"},
)


def answering(*, works: bool) -> Callable[[str, str, bytes], Reply]:
    """A server that keeps an item, or forgets its name."""
    kept: dict[str, str] = {}

    def reply(method: str, path: str, body: bytes) -> Reply:
        kind = {"content-type": "application/json"}
        if method == "POST":
            kept["name"] = json.loads(body)["name"]
            return 201, kind, b'{"id": 7}'
        name = kept.get("name") if works else "forgotten"
        found = path == "/items/7"
        return 200 if found else 404, kind, json.dumps({"id": 7, "name": name, "tags": ["a", "b"]}).encode()

    return reply


@pytest.mark.parametrize("works", [True, False])
def test_newman_agrees_with_the_scenario(tmp_path: Path, works: bool) -> None:
    """The collection passes on a server that works, and fails on one that does not."""
    collection, left = postman((SCENARIO,), "c")
    assert left == []
    (tmp_path / "c.json").write_text(json.dumps(collection))
    with http_server(answering(works=works)) as seen:
        command = [tool("newman"), "run", "c.json", "--env-var", f"baseUrl={seen.url}", "--reporters", "cli"]
        ended = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
    assert (ended.returncode == 0) is works, ended.stdout


def ran_by_httpyac(folder: Path, scenarios: tuple[Scenario, ...], url: str) -> tuple[int, str, list[str]]:
    """How httpyac ended, what it said, and what the file leaves out."""
    text, left = http_file(scenarios)
    (folder / "s.http").write_text(text.replace("http://127.0.0.1:8000", url))
    command = [tool("httpyac"), "send", "s.http", "--all"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return ended.returncode, ended.stdout + ended.stderr, left


@pytest.mark.parametrize("works", [True, False])
def test_httpyac_agrees_with_the_scenario(tmp_path: Path, works: bool) -> None:
    """The file passes on a server that works, and fails on one that does not."""
    with http_server(answering(works=works)) as seen:
        code, said, left = ran_by_httpyac(tmp_path, (SCENARIO,), seen.url)
    assert [path for _, path, *_ in seen.requests] == ["/items", "/items/7"]
    assert (code == 0) is works, said
    assert left == ["an item is kept: step 2: $.tags[*] same_items"]


ANSWER = b'{"id": 7, "s": "a b", "none": null, "list": [{"n": 1}, {"n": 2}]}'
HOLDS = (
    JsonCheck("$.list", value=[{"n": 1}, {"n": 2}]),
    JsonCheck("$.list[*].n", value=[1, 2]),
    JsonCheck("$.list", Op.LENGTH, 2),
    JsonCheck("$.none", Op.EXISTS),
    JsonCheck("$.none", value=None),
    JsonCheck("$.gone", Op.ABSENT),
    JsonCheck("$.s", Op.NOT_EQUALS, "a"),
    JsonCheck("$.s", Op.TYPE, "string"),
    JsonCheck("$.id", Op.AT_MOST, 7),
)
FAILS = (
    JsonCheck("$.list", value=[{"n": 1}]),
    JsonCheck("$.gone", value=None),
    JsonCheck("$.gone", Op.NOT_EQUALS, 1),
    JsonCheck("$.gone", Op.EXISTS),
    JsonCheck("$.none", Op.ABSENT),
    JsonCheck("$.id", value="7"),
    JsonCheck("$.id", Op.LESS_THAN, 7),
    JsonCheck("$.s", Op.LENGTH, 4),
    JsonCheck("$.id", Op.TYPE, "string"),
)


@pytest.mark.parametrize(
    ("expect", "failing"),
    [
        (Expect((200, 201), {"content-type": "JSON"}, HOLDS, ("a b",), ("c d",)), 0),
        (Expect("2xx"), 0),
        (Expect(), 0),
        (Expect((200, 204)), 1),
        (Expect("4xx"), 1),
        (Expect(headers={"content-type": "text"}, body_contains=("c d",), body_not_contains=("a b",)), 3),
        (Expect(json=FAILS), len(FAILS)),
    ],
)
def test_httpyac_checks_what_the_scenario_expects(tmp_path: Path, expect: Expect, failing: int) -> None:
    """Each expectation is a test of its own, and none is lost."""
    with http_server(lambda *_: (201, {"content-type": "application/json"}, ANSWER)) as seen:
        scenario = Scenario("s", "w", (Step(Call("/a"), expect),))
        code, said, left = ran_by_httpyac(tmp_path, (scenario,), seen.url)
    assert left == []
    assert said.count("it does not hold") == failing, said
    assert (code == 0) is (failing == 0)


def test_httpyac_sends_what_the_scenario_says(tmp_path: Path) -> None:
    """Forms, typed values and the values of another scenario with the same names."""
    sent = Call("/a", "POST", form={"a b": ("1&2", "{{ name }}"), "n": "{{ n }}"})
    kept = Step(sent, Expect(201), capture={"id": "$.id"})
    typed = Step(Call("/b", "PUT", json={"id": "{{ id }}", "name": "{{ name }}", "n": "{{ n }}"}))
    first = Scenario("s", "w", (kept, typed), let={"name": "x=y z", "n": "{{ random.int }}"})
    second = Scenario("t", "w", (Step(Call("/c", "PUT", json="{{ name }}!")),), let={"name": "other"})
    with http_server(lambda *_: (201, {"content-type": "application/json"}, ANSWER)) as seen:
        code, said, left = ran_by_httpyac(tmp_path, (first, second), seen.url)
    assert (code, left) == (0, []), said
    form, whole, last = (request[3] for request in seen.requests)
    fields = parse_qs(form.decode())
    assert fields["a b"] == ["1&2", "x=y z"]
    number = int(fields["n"][0])
    assert json.loads(whole) == {"id": 7, "name": "x=y z", "n": number}
    assert json.loads(last) == "other!"


def test_what_a_http_file_cannot_say_is_listed() -> None:
    """A step or a check that is not in the file is named."""
    steps = (
        Step(Call("/a", "POST", body="### no body")),
        Step(Call("/{{ random.date }}"), Expect(json=(JsonCheck("$.a", Op.UNIQUE),), body_matches=("x+",))),
        Step(run=Program(("true",))),
    )
    _, left = http_file((Scenario("s", "w", steps),))
    assert left == [
        "s: step 1: its body has lines that mean something else there",
        "s: random.date is the same in each run",
        "s: step 2: $.a unique",
        "s: step 2: body matches x+",
        "s: step 3: is no plain request",
    ]
