"""Scenarios as a Postman 2.1 collection, with their expectations as test scripts."""

import json
import re
from collections.abc import Iterator
from typing import Any

from harness_executor.evidence.formats.javascript import FIND
from harness_executor.evidence.formats.taken import Taken
from harness_executor.kernel import jsonpath
from harness_executor.kernel.acts import Call
from harness_executor.kernel.expectation import Expect, JsonCheck, Op
from harness_executor.kernel.scenario import Scenario, Step

_SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_HOLE = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")
_ASSERT = {
    Op.EQUALS: "pm.expect(it).to.eql(value)",
    Op.NOT_EQUALS: "pm.expect(it).to.not.eql(value)",
    Op.LENGTH: "pm.expect(it).to.have.lengthOf(value)",
    Op.CONTAINS: "pm.expect(it).to.deep.include(value)",
    Op.MATCHES: "pm.expect(it).to.match(new RegExp(value))",
    Op.AT_LEAST: "pm.expect(it).to.be.at.least(value)",
    Op.AT_MOST: "pm.expect(it).to.be.at.most(value)",
    Op.LESS_THAN: "pm.expect(it).to.be.below(value)",
    Op.MORE_THAN: "pm.expect(it).to.be.above(value)",
    Op.SAME_ITEMS: "pm.expect(it).to.have.deep.members(value)",
    Op.SUBSET_OF: "pm.expect(value).to.include.deep.members(it)",
    Op.SUPERSET_OF: "pm.expect(it).to.include.deep.members(value)",
    Op.UNIQUE: "pm.expect(new Set(it.map(one => JSON.stringify(one))).size).to.eql(it.length)",
}


def postman(scenarios: tuple[Scenario, ...], name: str) -> tuple[dict[str, Any], list[str]]:
    """A collection, one folder for each scenario, and what it cannot say."""
    taken = Taken()
    return {
        "info": {"name": name, "schema": _SCHEMA},
        "variable": [{"key": "baseUrl", "value": "http://127.0.0.1:8000"}],
        "item": [
            {"name": one.name, "description": one.why, "item": list(_items(one, taken))} for one in scenarios
        ],
    }, taken.left


def _items(scenario: Scenario, taken: Taken) -> Iterator[dict[str, Any]]:
    drawn = [
        f"pm.collectionVariables.set({json.dumps(name)}, {_js(text)});" for name, text in scenario.let.items()
    ]
    for number, step in enumerate(scenario.steps):
        call = step.request
        if call is None or call.listen is not None or call.port:
            taken.left.append(f"{scenario.name}: step {number + 1} is no plain request")
            continue
        yield {
            "name": step.description or f"{call.method} {call.path}",
            "request": _request(call),
            "protocolProfileBehavior": {"followRedirects": call.follow > 0},
            "event": [
                *([_event("prerequest", drawn)] if drawn else []),
                _event("test", list(_tests(step, scenario.name, taken))),
            ],
        }
        drawn = []


def _event(when: str, lines: list[str]) -> dict[str, Any]:
    return {"listen": when, "script": {"type": "text/javascript", "exec": lines}}


def _request(call: Call) -> dict[str, Any]:
    headers = [{"key": name, "value": _plain(value)} for name, value in call.headers.items()]
    said: dict[str, Any] = {
        "method": call.method.upper(),
        "header": headers,
        "url": "{{baseUrl}}" + _plain(call.path),
    }
    pairs = [
        (name, one)
        for name, value in call.form.items()
        for one in ([value] if isinstance(value, str) else value)
    ]
    fields = [{"key": name, "value": _plain(one), "type": "text"} for name, one in pairs]
    if call.json is not None:
        text = re.sub(r'"\{\{ ?([\w.]+) ?\}\}"', r'"{{\1}}"', json.dumps(call.json, ensure_ascii=False))
        said["body"] = {"mode": "raw", "raw": _plain(text), "options": {"raw": {"language": "json"}}}
    elif call.body is not None:
        said["body"] = {"mode": "raw", "raw": _plain(call.body)}
    elif call.files:
        files = [{"key": name, "type": "file", "src": one.name} for name, one in call.files.items()]
        said["body"] = {"mode": "formdata", "formdata": [*fields, *files]}
    elif fields:
        said["body"] = {"mode": "urlencoded", "urlencoded": fields}
    return said


def _plain(text: str) -> str:
    drawn = {"word": "$randomWord", "int": "$randomInt", "email": "$randomEmail", "uuid": "$guid"}
    return _HOLE.sub(
        lambda hole: (
            "{{"
            + (drawn.get(hole[1][7:], "$randomWord") if hole[1].startswith("random.") else hole[1])
            + "}}"
        ),
        text,
    )


def _js(value: Any) -> str:
    """An expression for a value; a text that is nothing but a name is the variable itself."""
    if isinstance(value, str) and (whole := _HOLE.fullmatch(value)) and not whole[1].startswith("random."):
        return f"pm.collectionVariables.get({json.dumps(whole[1])})"
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and "{{" in value:
        return f"pm.variables.replaceIn({_plain(text)})"
    return text


def _tests(step: Step, name: str, taken: Taken) -> Iterator[str]:
    yield FIND
    yield f"pm.test('status', () => {_status(step.expect)});"
    for header, part in step.expect.headers.items():
        there = f"pm.expect(String(pm.response.headers.get({json.dumps(header)})).toLowerCase())"
        yield f"pm.test('header', () => {there}.to.include(({_js(part)}).toLowerCase()));"
    for check in step.expect.json:
        line = _json_test(check)
        if line:
            yield line
        else:
            taken.left.append(f"{name}: {check.path} {check.op.value}")
    for part in step.expect.body_contains:
        yield f"pm.test('body', () => pm.expect(pm.response.text()).to.include({_js(part)}));"
    for part in step.expect.body_not_contains:
        yield f"pm.test('body', () => pm.expect(pm.response.text()).to.not.include({_js(part)}));"
    for part in step.expect.body_matches:
        yield f"pm.test('body', () => pm.expect(pm.response.text()).to.match(new RegExp({_js(part)})));"
    for variable, path in step.capture.items():
        yield f"pm.collectionVariables.set({json.dumps(variable)}, {_at(path)});"


def _status(expect: Expect) -> str:
    match expect.status:
        case None:
            return "pm.expect(pm.response.code).to.be.below(400)"
        case str():
            return f"pm.expect(Math.floor(pm.response.code / 100)).to.eql({expect.status[0]})"
        case int():
            return f"pm.response.to.have.status({expect.status})"
    return f"pm.expect(pm.response.code).to.be.oneOf({list(expect.status)})"


def _at(path: str) -> str:
    found = f"find(pm.response.json(), {json.dumps(list(jsonpath.parse(path)))})"
    return found if jsonpath.is_many(path) else f"{found}[0]"


def _json_test(check: JsonCheck) -> str:
    found = f"find(pm.response.json(), {json.dumps(list(jsonpath.parse(check.path)))})"
    title = json.dumps(f"{check.path} {check.op.value}")
    if check.op in (Op.EXISTS, Op.ABSENT):
        how = "above" if check.op is Op.EXISTS else "below"
        return f"pm.test({title}, () => pm.expect({found}.length).to.be.{how}({int(check.op is Op.ABSENT)}));"
    if check.op is Op.TYPE:
        said = "integer" if check.value == "integer" else "number" if check.value == "number" else ""
        kinds = "it === null ? 'null' : Array.isArray(it) ? 'array' : typeof it"
        test = "Number.isInteger(it)" if said == "integer" else f"({kinds}) === {json.dumps(check.value)}"
        return f"pm.test({title}, () => {{ const it = {_at(check.path)}; pm.expect({test}).to.eql(true); }});"
    if check.op not in _ASSERT:
        return ""
    given = f"const it = {_at(check.path)}; const value = {_js(check.value)};"
    return f"pm.test({title}, () => {{ {given} {_ASSERT[check.op]}; }});"
