"""What is taken over of files that are not as they should be."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import UsageError
from harness_executor.evidence.formats.har import read_har
from harness_executor.evidence.formats.openapi import read_openapi
from harness_executor.evidence.formats.postman import read_postman
from harness_executor.evidence.formats.secrets import hide_secrets
from harness_executor.evidence.formats.taken import Taken
from tests.conftest import Cli
from tests.odd import oddities

IT = {"application/json": {"schema": {"$ref": "#/components/schemas/It"}, "example": {"id": 1}}}
PROPERTIES = {
    "id": {"type": "integer", "minimum": 1},
    "n": {"type": ["string", "null"], "format": "email", "nullable": True},
    "l": {"type": "array", "items": {"type": "number", "minimum": 2}},
    "o": {"oneOf": [{"enum": ["x"]}]},
    "a": {"allOf": [{"properties": {"z": {"type": "boolean"}}, "required": ["z"]}]},
}
OPENAPI = {
    "security": [{}],
    "components": {
        "securitySchemes": {"a": {}},
        "schemas": {"It": {"type": "object", "required": ["id", "n"], "properties": PROPERTIES}},
    },
    "paths": {
        "/it/{id}": {
            "parameters": [{"name": "id", "in": "path", "schema": {"type": "string"}}],
            "get": {
                "operationId": "g",
                "summary": "s",
                "parameters": [
                    {"name": "q", "in": "query", "required": True, "schema": {"examples": ["b"]}},
                    {"name": "b", "in": "body", "schema": {"properties": {"k": {"default": 1}}}},
                ],
                "responses": {"200": {"description": "", "content": IT}},
            },
        },
        "/it": {"post": {"requestBody": {"content": IT}, "responses": {"201": {"content": IT}}}},
    },
}
SCRIPT = [
    "pm.response.to.have.status(200);",
    "pm.expect(pm.response.code).to.be.oneOf([200,201])",
    "pm.expect(jsonData.a).to.eql(1);",
    "pm.environment.set('t', jsonData.a)",
]
REQUEST = {
    "method": "POST",
    "url": {"raw": "{{base}}/a/:id", "variable": [{"key": "id", "value": "1"}]},
    "header": [{"key": "A", "value": "b", "disabled": False}],
    "auth": {
        "type": "basic",
        "basic": [{"key": "username", "value": "u"}, {"key": "password", "value": "p"}],
    },
    "body": {"mode": "raw", "raw": "{}"},
}
FORM = {"mode": "urlencoded", "urlencoded": [{"key": "a", "value": "{{$guid}}"}]}
FILES = {
    "mode": "formdata",
    "formdata": [{"key": "a", "value": "b"}, {"key": "f", "type": "file", "src": "x"}],
}
POSTMAN = {
    "info": {"name": "c"},
    "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "t"}]},
    "variable": [{"key": "base", "value": "http://x"}],
    "item": [
        {
            "name": "f",
            "description": {"content": "w"},
            "auth": {
                "type": "apikey",
                "apikey": [{"key": "key", "value": "X"}, {"key": "value", "value": "v"}],
            },
            "item": [
                {"name": "r", "event": [{"listen": "test", "script": {"exec": SCRIPT}}], "request": REQUEST},
                {"name": "s", "request": {"url": "http://x/y", "body": FORM}},
                {"name": "t", "request": {"url": "http://x/y", "body": FILES}},
            ],
        },
        {"name": "u", "request": "http://x/z"},
    ],
}
ENTRY: dict[str, dict[str, Any]] = {
    "request": {
        "method": "POST",
        "url": "http://x/a?b=1",
        "headers": [{"name": "Accept", "value": "*"}],
        "postData": {"text": "{}", "mimeType": "application/json"},
    },
    "response": {"status": 200, "content": {"mimeType": "application/json", "text": "[1]", "encoding": "x"}},
}
HAR = {"log": {"entries": [ENTRY]}}


@pytest.mark.parametrize(
    ("reader", "data"), [(read_openapi, OPENAPI), (read_postman, POSTMAN), (read_har, HAR)]
)
def test_what_is_odd_is_taken_or_named(reader: Callable[[Any], Taken], data: Any) -> None:
    """Whatever stands in one of its places, a file of another tool ends in no trace."""
    assert reader(data).checked()
    for odd in oddities(data):
        with suppress(UsageError):
            taken = reader(odd)
            hide_secrets(taken)
            taken.checked()


@pytest.mark.parametrize(
    ("request_", "response", "said"),
    [({"url": "http://["}, {}, "'http://['"), ({}, {"status": "fine"}, "'fine'")],
)
def test_what_cannot_be_taken_is_shown(
    tmp_path: Path, cli: Cli, request_: dict[str, str], response: dict[str, str], said: str
) -> None:
    """The value, and what to do."""
    entry = {"request": {**ENTRY["request"], **request_}, "response": {**ENTRY["response"], **response}}
    file = tmp_path / "recorded.har"
    file.write_text(json.dumps({"log": {"entries": [entry]}}))
    ran = cli("scenarios", "import", file)
    assert ran.code == 2
    assert said in ran.err
    assert "hint:" in ran.err


def test_a_value_of_a_path_is_put_in_as_it_is() -> None:
    """A backslash in it means nothing."""
    url = {"raw": "/a/:id", "variable": [{"key": "id", "value": "x\\1"}]}
    (found,) = read_postman({"item": [{"name": "r", "request": {"url": url}}]}).checked()
    assert found.steps[0].request is not None
    assert found.steps[0].request.path == "/a/x\\1"
