"""Logins that scenarios share."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import UsageError
from harness_executor.evidence.logins import logins_of
from harness_executor.evidence.scenario_file import load_scenarios, read_scenarios
from harness_executor.kernel.report import explain
from tests.evidence.apps import Reply, http_server
from tests.evidence.test_runner import run

FILE: dict[str, Any] = {
    "logins": {
        "admin": {
            "steps": [
                {
                    "request": {"method": "POST", "path": "/login", "json": {"user": "a"}},
                    "expect": {"status": 200},
                    "capture": {"token": "$.data.token"},
                }
            ],
            "headers": {"Authorization": "Bearer {{ token }}"},
        }
    },
    "before": [{"request": {"method": "POST", "path": "/seed"}, "expect": {"status": 200}}],
    "scenarios": [
        {
            "name": "in",
            "why": "w",
            "login": "admin",
            "steps": [
                {"request": {"path": "/me"}, "expect": {"status": 200}},
                {"request": {"path": "/me", "headers": {"authorization": "x"}}, "expect": {"status": 401}},
            ],
        },
        {
            "name": "out",
            "why": "w",
            "before": False,
            "steps": [{"request": {"path": "/me"}, "expect": {"status": 401}}],
        },
    ],
}
AUTH = {
    "admin_login": {"endpoint": "POST /login", "body": {"user": "a"}, "token_path": "data.token"},
    "header": "Authorization: Bearer {token}",
}


def written(tmp_path: Path, **change: Any) -> Path:
    """The file, with something changed."""
    path = tmp_path / "s.json"
    path.write_text(json.dumps({**FILE, **change}, indent=1))
    return path


def guarded(method: str, path: str, _: bytes) -> Reply:
    """A server that gives a token."""
    return 200, {}, json.dumps({"data": {"token": "t1"}}).encode()


def test_a_login_and_first_steps_are_put_into_each_scenario(tmp_path: Path) -> None:
    """What is run stands for itself: login, then what prepares, then the scenario, with the header."""
    inside, outside = load_scenarios(written(tmp_path))
    calls = [step.request for step in inside.steps if step.request]
    assert [call.path for call in calls] == ["/login", "/seed", "/me", "/me"]
    assert [dict(call.headers) for call in calls] == [
        {},
        {"Authorization": "Bearer {{ token }}"},
        {"Authorization": "Bearer {{ token }}"},
        {"authorization": "x"},
    ]
    assert len(outside.steps) == 1


def test_the_token_of_a_real_server_is_carried(tmp_path: Path) -> None:
    """What the login captured stands in the header of later requests."""
    scenarios = load_scenarios(written(tmp_path))
    with http_server(guarded) as seen:
        done = run(scenarios[0], seen.url)
    assert [headers.get("authorization") for _, _, headers, _ in seen.requests] == [
        None,
        "Bearer t1",
        "Bearer t1",
        "x",
    ]
    assert "expected 401" in explain(done)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"logins": {}}, "s.json: in: there is no login 'admin'"),
        ({"logins": {"admin": {"stpes": []}}}, "s.json, line 4: logins.admin.stpes: unknown key"),
        ({"before": [{"request": {}}]}, "before.0.request.path: is missing"),
        ({"before": [{"request": {"path": "/"}, "run": {"argv": ["a"]}}]}, "a step has one of request"),
    ],
)
def test_a_slip_is_told_with_its_place(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    """Logins and first steps are read as strictly as scenarios."""
    with pytest.raises(UsageError) as caught:
        load_scenarios(written(tmp_path, **change))
    assert said in caught.value.message


@pytest.mark.parametrize("wish", [{"login": 5}, {"before": "no"}])
def test_a_wish_of_the_wrong_type_is_told_with_its_line(tmp_path: Path, wish: dict[str, Any]) -> None:
    """The line is that of the key."""
    scenarios = [{**FILE["scenarios"][1], **wish}]
    with pytest.raises(
        UsageError, match=rf"s\.json, line \d+: scenarios\.0\.{next(iter(wish))}: Input should"
    ):
        load_scenarios(written(tmp_path, scenarios=scenarios))


@pytest.mark.parametrize(
    ("auth", "headers"),
    [
        (AUTH, {"Authorization": "Bearer {{ token }}"}),
        ({**AUTH, "header": "X-Token: <access_token>"}, {"X-Token": "{{ token }}"}),
        ({**AUTH, "header": {"x-api": "$TOKEN"}}, {"x-api": "{{ token }}"}),
        ({"admin_login": AUTH["admin_login"]}, {"Authorization": "Bearer {{ token }}"}),
        ({"admin_login": {"endpoint": "/login", "body": "user=a"}}, {}),
    ],
)
def test_the_login_of_a_project_is_understood(auth: dict[str, Any], headers: dict[str, str]) -> None:
    """However environment.json says it, the request and the header are the same."""
    found = logins_of(auth)
    assert found["default"] == found["admin"]
    assert dict(found["admin"].headers) == headers
    (step,) = found["admin"].steps
    assert step.request is not None
    assert (step.request.method, step.request.path) == ("POST", "/login")


def test_the_login_of_a_project_is_used_by_its_name(tmp_path: Path) -> None:
    """A file may name a login that only the project knows; steps may be declared as they are."""
    scenarios = [{**FILE["scenarios"][1], "login": "default"}]
    file = read_scenarios(written(tmp_path, scenarios=scenarios))
    declared = logins_of(FILE["logins"]["admin"])
    assert len(file.prepared(declared)[0].steps) == 2
    assert logins_of({}) == {}
    with pytest.raises(UsageError, match=r"environment\.json: auth: "):
        logins_of({"steps": [{"reqest": {}}]})
