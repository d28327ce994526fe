"""Scenarios as a `.http` file for httpyac, with their expectations as its tests."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote_plus

from harness_executor.evidence.formats.javascript import CONDITIONS, FIND, SAME, found_at, status_holds
from harness_executor.evidence.formats.taken import Taken
from harness_executor.kernel import jsonpath
from harness_executor.kernel.acts import Call
from harness_executor.kernel.expectation import Expect, JsonCheck, Op
from harness_executor.kernel.scenario import Scenario, Step
from harness_executor.kernel.values import DRAWN, draw, names_in

_HOLE = re.compile(r"\{\{\s*([A-Za-z_][\w.]*)\s*\}\}")
_QUOTED = re.compile(r'"\{\{\s*([A-Za-z_][\w.]*)\s*\}\}"')
_OURS = re.compile(r"^(?:###|\?\?|\{\{|<|>|#|//|@)", re.MULTILINE)
"""Lines that a tool would take for something else than a body."""
_DRAWN = {
    "uuid": "{{$guid}}",
    "int": "{{$randomInt 100000 999999}}",
    "email": "{{$guid}}@example.com",
    **dict.fromkeys(("word", "name", "slug", "text", "sentence"), "{{$guid}}"),
}
_TAKEN = frozenset(
    (
        "response",
        "request",
        "test",
        "find",
        "same",
        "plain",
        "body",
        "all",
        "it",
        "value",
        "exports",
        "require",
    )
)
"""Names that mean something else in a script."""


def http_file(scenarios: tuple[Scenario, ...]) -> tuple[str, list[str]]:
    """Every request of the scenarios with its tests; what the format cannot say is listed."""
    taken = Taken()
    parts = ["@baseUrl = http://127.0.0.1:8000\n"]
    for scenario in scenarios:
        parts += _HttpScenario(scenario, taken).blocks()
    return "\n".join(parts), taken.left


class _HttpScenario:
    """One scenario on its way into a file."""

    def __init__(self, scenario: Scenario, taken: Taken) -> None:
        self.scenario = scenario
        self.taken = taken
        self.names = {*scenario.let, *(name for step in scenario.steps for name in step.capture)}

    def blocks(self) -> Iterator[str]:
        """A block for each step that can be said; the first fixes the values."""
        fixed = [f"@{name} = {self._text(value)}" for name, value in self.scenario.let.items()]
        for number, step in enumerate(self.scenario.steps, 1):
            problem = self._problem(step)
            if step.request is None or problem:
                self._leave(number, problem or "is no request")
                continue
            title = (step.description or str(number)).replace("\n", " ")
            head = [f"### {self.scenario.name}: {title}", *fixed, *self._request(step.request)]
            yield "\n".join([*head, "", *self._tests(step, number), ""])
            fixed = []

    def _leave(self, number: int, what: str) -> None:
        self.taken.left.append(f"{self.scenario.name}: step {number}: {what}")

    def _problem(self, step: Step) -> str:
        """Why a step cannot be said at all."""
        call = step.request
        if call is None or call.listen is not None or call.files or call.port:
            return "is no plain request"
        used = {*names_in([call.path, dict(call.headers), call.json, call.body, dict(call.form)])}
        if names := sorted((used | {*step.capture}) & _TAKEN):
            return f"the name {names[0]} means something else there"
        if call.json is None and call.body is not None and _OURS.search(call.body):
            return "its body has lines that mean something else there"
        return ""

    def _request(self, call: Call) -> Iterator[str]:
        headers, body = dict(call.headers), None if call.body is None else self._text(call.body)
        kind = ""
        if call.json is not None:
            kind, body = "application/json", self._json(call.json)
        elif call.form:
            kind, body = "application/x-www-form-urlencoded", "&".join(self._fields(call.form))
        if kind and "content-type" not in {name.lower() for name in headers}:
            headers["content-type"] = kind
        if not call.follow:
            yield "# @no-redirect"
        yield f"{call.method.upper()} {{{{baseUrl}}}}{self._text(call.path)}"
        yield from (f"{name}: {self._text(value)}" for name, value in headers.items())
        if body is not None:
            yield from ("", body)

    def _fields(self, form: Mapping[str, str | tuple[str, ...]]) -> Iterator[str]:
        for name, value in form.items():
            for one in [value] if isinstance(value, str) else value:
                yield f"{quote_plus(name)}={self._coded(one)}"

    def _coded(self, text: str) -> str:
        """A text for a form; what stands in a hole is coded when it is known."""
        parts = _HOLE.split(text)
        for at, part in enumerate(parts):
            is_name = at % 2 == 1 and not part.startswith(DRAWN)
            parts[at] = f"{{{{encodeURIComponent({part})}}}}" if is_name else quote_plus(part)
            if at % 2 == 1 and not is_name:
                parts[at] = self._hole(part)
        return "".join(parts)

    def _text(self, text: str) -> str:
        return _HOLE.sub(lambda hole: self._hole(hole[1]), text)

    def _json(self, value: Any) -> str:
        """A body; a text that is one hole keeps the type of its value."""
        return self._text(_QUOTED.sub(self._typed, json.dumps(value, ensure_ascii=False)))

    def _typed(self, hole: re.Match[str]) -> str:
        name = hole[1]
        if name.startswith(DRAWN):
            return hole[0] if isinstance(draw(name.removeprefix(DRAWN), "export"), str) else hole[0][1:-1]
        return hole[0] if self._is_text(name) else f"{{{{JSON.stringify({self._known(name)})}}}}"

    def _is_text(self, name: str) -> bool:
        """Is it fixed as a text? What was captured may be anything."""
        whole = _HOLE.fullmatch(self.scenario.let.get(name, "{{ captured }}"))
        if whole is None:
            return True
        return whole[1].startswith(DRAWN) and isinstance(draw(whole[1].removeprefix(DRAWN), "export"), str)

    def _hole(self, name: str) -> str:
        if not name.startswith(DRAWN):
            return f"{{{{{name}}}}}"
        kind = name.removeprefix(DRAWN)
        if kind in _DRAWN:
            return _DRAWN[kind]
        value = draw(kind, "export")
        self.taken.left.append(f"{self.scenario.name}: {name} is the same in each run")
        return value if isinstance(value, str) else json.dumps(value)

    def _known(self, name: str) -> str:
        """An expression for a name, of the type that its value has."""
        if name not in self.scenario.let:
            return name
        if self._is_text(name):
            return f"String({name})"
        return f"JSON.parse(String({name}))"

    def _value(self, value: Any) -> str | None:
        """An expression for a value; none for one that is drawn anew or has a name of the tool's."""
        names = {*names_in(value)}
        if names - self.names or names & _TAKEN:
            return None
        if isinstance(value, str) and (whole := _HOLE.fullmatch(value)):
            return self._known(whole[1])
        if isinstance(value, str) and names:
            parts = _HOLE.split(value)
            return " + ".join(json.dumps(p) if at % 2 == 0 else f"String({p})" for at, p in enumerate(parts))
        return None if names else json.dumps(value)

    def _tests(self, step: Step, number: int) -> Iterator[str]:
        """The status as every reader knows it, and all else as a script."""
        if isinstance(step.expect.status, int):
            yield f"?? status == {step.expect.status}"
        elif step.expect.status is None:
            yield "?? status < 400"
        lines = list(self._script(step, number))
        if lines:
            yield from ("{{", f"  {FIND}", f"  {SAME}", _BODY_READ, *(f"  {line}" for line in lines), "}}")

    def _script(self, step: Step, number: int) -> Iterator[str]:
        if step.expect.status is not None and not isinstance(step.expect.status, int):
            yield _test("status", status_holds(step.expect, "response.statusCode"))
        for title, holds in self._claims(step.expect):
            if holds:
                yield _test(title, holds)
            else:
                self._leave(number, title)
        for name, path in step.capture.items():
            found = found_at(path, "body")
            yield _test(f"{name} is there", f"{found}.length > 0")
            yield f"exports.{name} = {found if jsonpath.is_many(path) else found + '[0]'};"

    def _claims(self, expect: Expect) -> Iterator[tuple[str, str]]:
        """What is expected besides the status, each as an expression; an empty one cannot be said."""
        yield from ((f"{one.path} {one.op.value}", self._json_holds(one)) for one in expect.json)
        yield from (
            (f"header {name}", self._header_holds(name, part)) for name, part in expect.headers.items()
        )
        yield from ((f"body contains {part}", self._body_holds(part)) for part in expect.body_contains)
        yield from ((f"body lacks {part}", self._body_holds(part, "!")) for part in expect.body_not_contains)
        yield from ((f"body matches {pattern}", "") for pattern in expect.body_matches)

    def _json_holds(self, check: JsonCheck) -> str:
        found = found_at(check.path, "body")
        if check.op in (Op.EXISTS, Op.ABSENT):
            return f"body !== undefined && {found}.length {'>' if check.op is Op.EXISTS else '==='} 0"
        value = self._value(check.value)
        if check.op not in CONDITIONS or value is None:
            return ""
        one = "true" if jsonpath.is_many(check.path) else "all.length > 0"
        it = "all" if jsonpath.is_many(check.path) else "all[0]"
        holds = f"body !== undefined && {one} && {CONDITIONS[check.op]}"
        return f"((all, value) => {{ const it = {it}; return {holds}; }})({found}, {value})"

    def _header_holds(self, name: str, part: str) -> str:
        value = self._value(part)
        there = f"[response.headers[{json.dumps(name.lower())}]].flat().join()"
        return f"{there}.toLowerCase().includes(String({value}).toLowerCase())" if value else ""

    def _body_holds(self, part: str, negated: str = "") -> str:
        value = self._value(part)
        return f"{negated}String(response.body).includes({value})" if value else ""


_BODY_READ = (
    "  const body = (() => { try { return JSON.parse(response.body); } catch { return undefined; } })();"
)


def _test(title: str, holds: str) -> str:
    return f"test({json.dumps(title)}, () => {{ if (!({holds})) throw new Error('it does not hold'); }});"
