"""Logins that scenarios share: steps that come first, and headers that later requests carry."""

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, ClassVar

from harness_executor.errors import ShapeError, UsageError
from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.scenario import Scenario, Step
from harness_executor.shapes import read

DEFAULT = "default"
"""What the first login of environment.json is also called."""
_TOKEN = re.compile(r"\{\{?\s*\w*token\w*\s*\}?\}|<\w*token\w*>|\$\{?\w*token\w*\}?", re.IGNORECASE)


@frozen
class Login:
    """How somebody logs in."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    steps: tuple[Step, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    """What every later request of the scenario carries; may hold what the steps captured."""


def prepared(scenario: Scenario, login: Login | None, before: tuple[Step, ...]) -> Scenario:
    """The scenario with its login and the steps of its file first."""
    if login is None:
        return replace(scenario, steps=(*before, *scenario.steps))
    steps = (_carrying(step, login.headers) for step in (*before, *scenario.steps))
    return replace(scenario, steps=(*login.steps, *steps))


def _carrying(step: Step, headers: Mapping[str, str]) -> Step:
    call = step.request
    if call is None:
        return step
    own = {name.lower() for name in call.headers}
    added = {name: value for name, value in headers.items() if name.lower() not in own}
    return replace(step, request=replace(call, headers={**added, **call.headers}))


def logins_of(auth: Mapping[str, Any]) -> dict[str, Login]:
    """The logins that a project declares in environment.json; the first is also the default one."""
    if not auth:
        return {}
    found: dict[str, Login] = {}
    try:
        if "steps" in auth:
            found[DEFAULT] = read(Login, {key: auth[key] for key in ("steps", "headers") if key in auth})
        for name, said in auth.items():
            if isinstance(said, Mapping) and "endpoint" in said:
                found[name.removesuffix("_login")] = _declared(said, auth.get("header", ""))
    except ShapeError as error:
        raise UsageError(
            f"environment.json: auth: {error.message}", hint="docs/SCENARIOS.md shows a login"
        ) from error
    return {**found, DEFAULT: next(iter(found.values()))} if found else {}


def _declared(said: Mapping[str, Any], header: Any) -> Login:
    method, _, path = str(said["endpoint"]).rpartition(" ")
    body, token = said.get("body"), str(said.get("token_path") or "")
    request = {"method": method or str(said.get("method") or "POST"), "path": path}
    request |= {"body": body} if isinstance(body, str) else {"json": body} if body is not None else {}
    capture = {"token": token if token.startswith("$") else f"$.{token}"} if token else {}
    step = {"request": request, "capture": capture, "effect": "none", "description": "log in"}
    return read(Login, {"steps": [step], "headers": _headers(header) if token else {}})


def _headers(header: Any) -> dict[str, str]:
    if isinstance(header, Mapping):
        return {str(name): _TOKEN.sub("{{ token }}", str(value)) for name, value in header.items()}
    name, _, value = str(header or "Authorization").partition(":")
    return {name.strip(): _TOKEN.sub("{{ token }}", value.strip()) or "Bearer {{ token }}"}
