"""Imports without the secrets of the files."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli

SECRET = "hunter2-Xy9"
TOKEN = "abcDEF0123456789abcdef"


def postman() -> dict[str, Any]:
    """A collection with a secret at every place for one."""
    form = {"mode": "urlencoded", "urlencoded": [{"key": "password", "value": SECRET}]}
    request = {
        "method": "POST",
        "url": f"http://x.test/login?api_key={TOKEN}&page=2",
        "header": [{"key": "X-Api-Key", "value": TOKEN}, {"key": "X-Session-Token", "value": "{{tok}}"}],
        "auth": {
            "type": "basic",
            "basic": [{"key": "username", "value": "u"}, {"key": "password", "value": SECRET}],
        },
        "body": form,
    }
    script = [f"pm.expect(json.token).to.eql('{TOKEN}');", "pm.environment.set('token', json.token);"]
    event = [{"listen": "test", "script": {"exec": [*script, f"use('{TOKEN}')"]}}]
    raw = {"mode": "raw", "raw": f'{{"password": "{SECRET}", "n": {{{{n}}}}, "token": "{{{{tok}}}}"}}'}
    again = {"method": "PUT", "url": f"/a/{TOKEN}", "body": raw}
    known = [{"key": "tok", "value": "short1"}, {"key": "n", "value": "1"}]
    items = [{"name": "in", "request": request, "event": event}, {"name": "again", "request": again}]
    return {"info": {"name": "c"}, "item": items, "variable": known}


def har() -> dict[str, Any]:
    """A recording of a login."""
    body = {"mimeType": "application/json", "text": json.dumps({"user": "u", "password": SECRET, "n": 5})}
    entry = {
        "request": {"method": "POST", "url": f"http://a.test/x?access_token={TOKEN}", "postData": body},
        "response": {"status": 200, "content": {"text": json.dumps({"ok": True, "echo": SECRET})}},
    }
    return {"log": {"entries": [entry]}}


HTTP = (
    f"@password = {SECRET}\n\n###\nPOST http://x.test/a\nAuthorization: Bearer {TOKEN}\n"
    'content-type: application/json\n\n{"password": "{{password}}", "token_type": "plain"}\n'
)


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [("c.json", json.dumps(postman()), 3), ("r.har", json.dumps(har()), 2), ("a.http", HTTP, 2)],
)
def test_no_secret_is_taken_over(tmp_path: Path, cli: Cli, name: str, text: str, count: int) -> None:
    """Neither the scenarios nor what is said of them has one, and each is named."""
    (tmp_path / name).write_text(text)
    ran = cli("scenarios", "import", tmp_path / name, "-o", tmp_path / "s.json")
    assert ran.code == 0, ran.err
    written = (tmp_path / "s.json").read_text()
    for secret in (SECRET, TOKEN, base64.b64encode(f"u:{SECRET}".encode()).decode()):
        assert secret not in written + ran.out + ran.err
    assert ran.err.count("a secret: Removed-Secret-") >= count


def test_what_is_no_secret_stays(tmp_path: Path, cli: Cli) -> None:
    """Variables, captures, other fields and the kind of an authorization are as they were."""
    (tmp_path / "c.json").write_text(json.dumps(postman()))
    assert cli("scenarios", "import", tmp_path / "c.json", "-o", tmp_path / "s.json").code == 0
    (found,) = json.loads((tmp_path / "s.json").read_text())["scenarios"]
    first, again = found["steps"]
    assert found["let"]["tok"].startswith("Removed-Secret-")
    assert found["let"]["n"] == "1"
    key = first["request"]["headers"]["X-Api-Key"]
    assert first["request"]["path"] == f"/login?api_key={key}&page=2"
    assert first["request"]["headers"]["X-Session-Token"] == "{{ tok }}"
    assert first["request"]["headers"]["Authorization"].startswith("Basic Removed-Secret-")
    assert first["capture"] == {"token": "$.token"}
    assert first["expect"]["json"] == [{"path": "$.token", "op": "exists"}]
    assert again["request"]["path"] == f"/a/{key}"
    body = again["request"]["body"]
    assert first["request"]["form"]["password"] in body
    assert body.endswith('", "n": {{ n }}, "token": "{{ tok }}"}')
