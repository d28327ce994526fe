"""`harness init` and `harness verify` on projects as people have them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.apps.project import App, Checkout, apps, check_out
from tests.conftest import Cli, commit_all


@pytest.mark.parametrize("app", list(apps()), ids=lambda app: app.name)
def test_a_project_is_found_started_proved_and_refused(app: App, tmp_path: Path, cli: Cli) -> None:
    """Init finds the stack and starts it; the feature is proved; without it, or broken, it is refused."""
    checkout = check_out(app, tmp_path)
    _is_found(checkout, cli)
    commit_all(checkout.root, "Add harness/")
    checkout.become_feature()
    proved = checkout.verify(cli)
    assert proved.code == 0, proved.out + proved.err
    checkout.revert()
    reverted = checkout.verify(cli)
    assert reverted.code == 4, reverted.out + reverted.err
    assert "no scenario failed before and passes now" in reverted.out + reverted.err
    for variant in app.broken:
        _is_refused(checkout, variant, cli)


def _is_refused(checkout: Checkout, variant: dict[str, Any], cli: Cli) -> None:
    checkout.break_it(variant)
    ran = checkout.verify(cli)
    said = f"{variant['name']}: {ran.out}{ran.err}"
    assert ran.code == 4, said
    assert re.search(variant["refused"], ran.out + ran.err), said


def _is_found(checkout: Checkout, cli: Cli) -> None:
    ran = cli("init", "--json", cwd=checkout.root)
    assert ran.code == 0, ran.out + ran.err
    written = json.loads((checkout.root / "harness/environment.json").read_text(encoding="utf-8"))
    wanted = checkout.app.found
    assert written["project"]["type"] == wanted["type"]
    assert written["project"]["language"] == wanted["language"]
    assert written["project"].get("framework", "") == wanted.get("framework", "")
    assert written["runtime"].get("package_manager") == wanted.get("package_manager")
    startup = written.get("startup") or {}
    command = " ".join([startup.get("command", ""), *startup.get("args", []), *_values(startup.get("env"))])
    for part in wanted.get("start", []):
        assert any(one in command for one in _choices(part)), command
    assert bool(startup.get("command")) == (wanted["type"] == "web-api")
    _is_ready_at(startup, wanted.get("readiness"))
    assert {service["type"] for service in written.get("services", [])} == set(wanted.get("services", []))
    steps = json.dumps([startup.get("steps", []), [one.get("setup") for one in written.get("services", [])]])
    assert all(step in steps for step in wanted.get("steps", [])), steps
    required = written.get("env_vars", {}).get("required", {})
    assert all(required[name].get("test_value") for name in wanted.get("env_vars", [])), required
    if "build" in wanted:
        assert (written["runtime"]["build_command"], startup["build"]) == (wanted["build"], True)


def _values(env: dict[str, str] | None) -> list[str]:
    return [f"{name}={value}" for name, value in (env or {}).items()]


def _choices(part: str | dict[str, list[str]]) -> list[str]:
    return [part] if isinstance(part, str) else part["any"]


def _is_ready_at(startup: dict[str, Any], wanted: dict[str, str] | None) -> None:
    if wanted:
        readiness = startup["readiness"]
        assert (readiness["type"], readiness["config"].get("endpoint")) == (
            wanted["type"],
            wanted["endpoint"],
        )
