"""Scenarios from other tools' files."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.errors import UsageError
from harness_executor.evidence.formats.har import read_har
from harness_executor.evidence.formats.http_export import http_file
from harness_executor.evidence.formats.http_file import read_http
from harness_executor.evidence.formats.openapi import read_openapi
from harness_executor.evidence.formats.postman import read_postman
from harness_executor.evidence.formats.postman_export import postman
from harness_executor.kernel.acts import Call
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.scenario import Kind, Scenario, Step
from tests.conftest import Cli

OPENAPI: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/items": {
            "post": {
                "summary": "add an item",
                "operationId": "add",
                "requestBody": {
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/New"}}}
                },
                "responses": {
                    "201": {
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}
                    }
                },
            }
        },
        "/items/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": {
                "responses": {
                    "200": {
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}
                    }
                }
            },
            "delete": {"responses": {"204": {"description": "gone"}}},
        },
    },
    "components": {
        "schemas": {
            "New": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "n": {"type": "integer"}},
            },
            "Item": {
                "allOf": [
                    {"$ref": "#/components/schemas/New"},
                    {
                        "required": ["id"],
                        "properties": {
                            "id": {"type": "integer"},
                            "next": {"$ref": "#/components/schemas/Item"},
                        },
                    },
                ]
            },
            "Loop": {"$ref": "#/components/schemas/Loop"},
        }
    },
}


def test_an_openapi_document_gives_a_scenario_for_each_operation() -> None:
    """Examples, captures of what a POST made, and checks of types and required keys."""
    made, found, gone = read_openapi(OPENAPI).checked()
    assert (made.name, made.why) == ("add", "add an item")
    assert made.steps[0].request == Call("/items", "POST", json={"name": "{{ random.word }}"})
    assert made.steps[0].expect.status == 201
    checks = {(check.path, check.op.value, check.value) for check in made.steps[0].expect.json}
    assert checks == {
        ("$", "type", "object"),
        ("$['name']", "type", "string"),
        ("$['id']", "type", "integer"),
    }
    for scenario in (found, gone):
        assert [step.request.path for step in scenario.steps if step.request] == ["/items", "/items/{{ id }}"]
        assert scenario.steps[0].capture == {"id": "$['id']"}


@pytest.mark.parametrize(
    "schema", [{"$ref": "#/components/schemas/Loop"}, {"$ref": "http://example.com/x"}, {"$ref": 5}, 7]
)
def test_a_reference_that_leads_nowhere_is_nothing(schema: Any) -> None:
    """A circle ends, and nothing outside of the document is read."""
    document = {
        **OPENAPI,
        "paths": {"/a": {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}},
    }
    assert read_openapi(document).checked()[0].steps[0].expect.status == "2xx"


def test_swagger_2_is_read() -> None:
    """Bodies are parameters there, and answers have their schema themselves."""
    body = {"name": "b", "in": "body", "schema": {"example": {"a": 1}}}
    answer = {"200": {"schema": {"type": "array"}}}
    (found,) = read_openapi(
        {"swagger": "2.0", "paths": {"/a": {"put": {"parameters": [body], "responses": answer}}}}
    ).checked()
    assert found.steps[0].request == Call("/a", "PUT", json={"a": 1})
    assert found.steps[0].expect.json[0].value == "array"


def test_a_postman_collection_is_taken_over() -> None:
    """Variables, auth, bodies and the tests that are understood; the rest is listed."""
    script = [
        "const json = pm.response.json();",
        "pm.test('ok', () => {",
        "  pm.response.to.have.status(201);",
        "  pm.expect(json.user.name).to.eql('ada');",
        "  pm.expect(json.items[0].n).to.equal(3);",
        "  pm.collectionVariables.set('the-id', json.id);",
        "  eval('anything');",
        "});",
    ]
    request = {
        "method": "POST",
        "url": {"raw": "{{baseUrl}}/users/:kind?x=1", "variable": [{"key": "kind", "value": "new"}]},
        "header": [{"key": "X-A", "value": "{{a-b}}"}, {"key": "Host", "value": "x"}],
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{tok}}"}]},
        "body": {"mode": "raw", "raw": '{"name": "{{$randomWord}}"}'},
    }
    item = {"name": "make", "request": request, "event": [{"listen": "test", "script": {"exec": script}}]}
    data = {
        "info": {"name": "c"},
        "item": [{"name": "f", "item": [item]}],
        "variable": [{"key": "a-b", "value": "1"}],
    }
    taken = read_postman(data)
    (found,) = taken.checked()
    headers = {"X-A": "{{ a_b }}", "Authorization": "Bearer {{ tok }}"}
    assert found.steps[0].request == Call("/users/new?x=1", "POST", headers, {"name": "{{ random.word }}"})
    assert (found.name, found.let, found.steps[0].capture) == ("f", {"a_b": "1"}, {"the_id": "$.id"})
    assert found.steps[0].expect.status == 201
    assert [(check.path, check.value) for check in found.steps[0].expect.json] == [
        ("$.user.name", "ada"),
        ("$.items[0].n", 3),
    ]
    assert taken.left == ["make: eval('anything');"]


def test_an_http_file_is_taken_over() -> None:
    """Variables, headers, bodies and assertions; scripts are listed and not run."""
    text = (
        "@host = http://localhost:8000\n@name = ada\n\n### add\n# @name add\nPOST {{host}}/users HTTP/1.1\n"
        'content-type: application/json\n\n{"name": "{{name}}"}\n\n?? status == 201\n?? body user.id == 1\n'
        "?? body x > 1\n> {% client.test(); %}\n\n###\nGET /users\n"
    )
    taken = read_http(text)
    (found,) = taken.checked()
    assert found.let == {"name": "ada"}
    assert found.steps[0].request == Call(
        "/users", "POST", {"content-type": "application/json"}, {"name": "{{ name }}"}
    )
    assert found.steps[0].expect.json[0].path == "$.user.id"
    assert found.steps[1].request == Call("/users")
    assert taken.left == ["add: a script", "add: ?? body x > 1"]


def test_a_recording_is_taken_over_without_its_secrets() -> None:
    """What was answered is expected; tokens, other hosts and pictures are left out by name."""
    token = {"name": "Authorization", "value": "Bearer abc-secret"}
    entry = {
        "request": {
            "method": "GET",
            "url": "http://a.test/x?y=1",
            "headers": [token, {"name": "X-A", "value": "1"}],
        },
        "response": {
            "status": 200,
            "content": {"mimeType": "application/json", "text": '{"n": [1], "token": "abc-secret"}'},
        },
    }
    other = {"request": {"method": "GET", "url": "http://b.test/"}, "response": {"status": 200}}
    taken = read_har({"log": {"entries": [entry, other]}})
    (found,) = taken.checked()
    assert found.steps[0].request == Call("/x?y=1", headers={"x-a": "1"})
    assert "abc-secret" not in json.dumps(taken.scenarios) + str(taken.left)
    assert [(check.path, check.op.value) for check in found.steps[0].expect.json] == [
        ("$['n']", "length"),
        ("$['n'][0]", "equals"),
        ("$['token']", "exists"),
    ]
    assert len(taken.left) == 2


@pytest.mark.parametrize("reader", [read_openapi, read_postman, read_har])
@pytest.mark.parametrize("data", [None, 5, [], {}, {"paths": 1}, {"item": 1}, {"log": {"entries": [1]}}])
def test_another_file_is_told(reader: Any, data: Any) -> None:
    """A file that is something else is refused with words."""
    with pytest.raises(UsageError):
        reader(data)


NAMES = st.text("abcdefgh ", min_size=1).map(str.strip).filter(bool)
PATHS = st.text("abc/?=&1", max_size=12).map(lambda path: "/" + path.lstrip("/"))
BODIES = st.none() | st.dictionaries(NAMES, st.integers() | NAMES | st.booleans(), min_size=1)
CALLS = st.builds(
    Call, PATHS, st.sampled_from(["GET", "POST", "PUT"]), st.dictionaries(st.just("X-One"), NAMES), BODIES
)
STEPS = st.builds(Step, CALLS, st.builds(Expect, st.integers(200, 499)))


@given(st.lists(STEPS, min_size=1, max_size=4))
def test_what_both_can_say_comes_back_from_postman(steps: list[Step]) -> None:
    """Requests and statuses survive the way to a collection and back."""
    collection, left = postman((Scenario("s", "w", tuple(steps), Kind.UNCHANGED),), "c")
    (found,) = read_postman(json.loads(json.dumps(collection))).checked()
    assert left == []
    assert [step.request for step in found.steps] == [step.request for step in steps]
    assert [step.expect.status for step in found.steps] == [step.expect.status for step in steps]


@given(st.lists(STEPS, min_size=1, max_size=4))
def test_what_both_can_say_comes_back_from_http(steps: list[Step]) -> None:
    """Requests and statuses survive the way to a file and back; JSON says that it is JSON there."""
    text, _ = http_file((Scenario("s", "w", tuple(steps), Kind.UNCHANGED),))
    (found,) = read_http(text).checked()
    calls = [
        (step.request.method, step.request.path, step.request.json) for step in found.steps if step.request
    ]
    assert calls == [
        (step.request.method, step.request.path, step.request.json) for step in steps if step.request
    ]
    assert [step.expect.status for step in found.steps] == [step.expect.status for step in steps]


def test_the_command_imports_and_exports(tmp_path: Path, cli: Cli) -> None:
    """A file becomes a scenario file that loads, and that a collection."""
    source, out, collection = tmp_path / "api.json", tmp_path / "s.json", tmp_path / "c.json"
    source.write_text(json.dumps(OPENAPI))
    assert cli("scenarios", "import", source, "-o", out).code == 0
    assert cli("scenarios", "export", out, "--format", "postman", "-o", collection).code == 0
    assert len(json.loads(collection.read_text())["item"]) == 3
    assert cli("scenarios", "export", out, "--format", "openapi").code == 2
    assert cli("scenarios", "import", tmp_path / "none.json").code == 2
