"""A second reader of results, written apart from the first, which says what may be accepted."""

import re
from collections.abc import Callable
from typing import Any

from harness_executor.subagents.jobs import Answering

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_BLANK = " \t\n\r"


class Wrong(Exception):
    """It is not a result."""


def must(holds: object) -> None:
    """Go on only if this holds."""
    if not holds:
        raise Wrong


def blocks(text: str) -> list[str]:
    """The fenced blocks of a message that may hold JSON, found line by line."""
    lines, found, at = text.split("\n"), list[str](), 0
    while at < len(lines):
        ticks = len(lines[at]) - len(lines[at].lstrip("`"))
        language = lines[at][ticks:]
        end = _closing(lines, at + 1, ticks) if ticks >= 3 and "`" not in language else None
        if end is None:
            at += 1
            continue
        if language.strip() in ("", "json"):
            found.append("".join(line + "\n" for line in lines[at + 1 : end]))
        at = end + 1
    return found


def _closing(lines: list[str], first: int, ticks: int) -> int | None:
    for at in range(first, len(lines)):
        line = lines[at]
        if line.startswith("`" * ticks) and not line.lstrip("`").strip(" \t\r"):
            return at
    return None


class Json:
    """One JSON text, read letter by letter."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def whole(self) -> Any:
        """The value, with nothing around it."""
        value = self._value(1)
        self._skip()
        must(self.at == len(self.text))
        return value

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in _BLANK:
            self.at += 1

    def _take(self, wanted: str) -> bool:
        self._skip()
        found = self.text.startswith(wanted, self.at)
        self.at += len(wanted) if found else 0
        return found

    def _value(self, depth: int) -> Any:
        for word, value in (("true", True), ("false", False), ("null", None)):
            if self._take(word):
                return value
        if self._take("{"):
            must(depth <= 100)
            return self._object(depth)
        if self._take("["):
            must(depth <= 100)
            return self._list(depth)
        return self._string() if self._take('"') else self._number()

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self._take("}"):
            return found
        while True:
            must(self._take('"'))
            key = self._string()
            must(key not in found and self._take(":"))
            found[key] = self._value(depth + 1)
            if self._take("}"):
                return found
            must(self._take(","))

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        if self._take("]"):
            return found
        while True:
            found.append(self._value(depth + 1))
            if self._take("]"):
                return found
            must(self._take(","))

    def _number(self) -> Any:
        match = _NUMBER.match(self.text, self.at)
        must(match)
        assert match is not None
        self.at = match.end()
        if match[1] is None and match[2] is None:
            must(len(match[0]) <= 400)
            return int(match[0])
        number = float(match[0])
        must(abs(number) != float("inf"))
        return number

    def _string(self) -> str:
        made: list[str] = []
        while True:
            must(self.at < len(self.text))
            letter = self.text[self.at]
            self.at += 1
            if letter == '"':
                break
            must(ord(letter) >= 0x20)
            made.append(self._escape() if letter == "\\" else letter)
        text = "".join(made)
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        must("\ufffd" not in joined or "\ufffd" in text)
        return joined

    def _escape(self) -> str:
        must(self.at < len(self.text))
        letter = self.text[self.at]
        self.at += 1
        if letter != "u":
            must(letter in _ESCAPES)
            return _ESCAPES[letter]
        digits = self.text[self.at : self.at + 4]
        must(re.fullmatch("[0-9a-fA-F]{4}", digits))
        self.at += 4
        return chr(int(digits, 16))


Check = Callable[[Any], None]


def text(value: Any) -> None:
    """A text."""
    must(isinstance(value, str))


def truth(value: Any) -> None:
    """True or false."""
    must(isinstance(value, bool))


def anything(_: Any) -> None:
    """Any value."""


def one_of(*words: str) -> Check:
    """One of these words."""
    return lambda value: must(isinstance(value, str) and value in words)


def many(each: Check) -> Check:
    """A list."""

    def check(value: Any) -> None:
        must(isinstance(value, list))
        for item in value:
            each(item)

    return check


def named(each: Check) -> Check:
    """An object with any keys."""

    def check(value: Any) -> None:
        must(isinstance(value, dict))
        for item in value.values():
            each(item)

    return check


def keys(needed: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    """An object with these keys and no other."""
    known = {**needed, **(optional or {})}

    def check(value: Any) -> None:
        must(isinstance(value, dict) and set(needed) <= set(value) <= set(known))
        for key, item in value.items():
            known[key](item)

    return check


def either(*checks: Check) -> Check:
    """A value that passes one of these."""

    def check(value: Any) -> None:
        for one in checks:
            try:
                one(value)
            except Wrong:
                continue
            return
        raise Wrong

    return check


def _integer(value: Any) -> None:
    must(isinstance(value, int) and not isinstance(value, bool))


def _nothing(value: Any) -> None:
    must(value is None)


def _number(value: Any) -> None:
    must(isinstance(value, int | float) and not isinstance(value, bool))


def _maybe(check: Check) -> Check:
    return either(check, _nothing)


_OPS = ("equals", "not_equals", "exists", "absent", "type", "length")
_MORE_OPS = ("contains", "matches", "at_least", "at_most", "less_than", "more_than", "same_items")
_SET_OPS = ("subset_of", "superset_of", "sorted", "unique")
_FRAMES = keys({}, {"frames": _integer, "send": many(anything), "websocket": truth, "seconds": _number})
_REQUEST = keys(
    {"path": text},
    {
        "method": text,
        "headers": named(text),
        "json": anything,
        "body": _maybe(text),
        "form": named(either(text, many(text))),
        "follow": _integer,
        "listen": _maybe(_FRAMES),
        "port": text,
        "files": named(keys({"name": text, "text": text}, {"type": text})),
    },
)
_RUN = keys(
    {"argv": many(text)}, {"stdin": text, "env": named(text), "files": named(text), "seconds": _number}
)
_PROBE = keys(
    {"language": one_of("python", "node"), "code": text}, {"args": many(anything), "seconds": _number}
)
_FILE = keys({}, {"exists": truth, "contains": many(text), "matches": many(text), "equals": _maybe(text)})
_CODES = either(_integer, many(_integer), text, _nothing)
_PROGRAMS = tuple(
    f"{stream}_{how}" for stream in ("stdout", "stderr") for how in ("contains", "not_contains", "matches")
)
_EXPECT = keys(
    {},
    {
        "status": _CODES,
        "exit_code": _CODES,
        "headers": named(text),
        "files": named(_FILE),
        "json": many(keys({"path": text}, {"op": one_of(*_OPS, *_MORE_OPS, *_SET_OPS), "value": anything})),
        **dict.fromkeys(("body_contains", "body_not_contains", "body_matches", *_PROGRAMS), many(text)),
    },
)
_STEP = keys(
    {},
    {
        "request": _maybe(_REQUEST),
        "run": _maybe(_RUN),
        "probe": _maybe(_PROBE),
        "expect": _EXPECT,
        "query": _maybe(keys({"service": text, "text": text})),
        "description": text,
        "capture": named(text),
        "because": text,
        "effect": one_of("", "none"),
    },
)
_SCENARIO = keys(
    {"name": text, "why": text, "steps": many(_STEP)},
    {"kind": one_of("new", "changed", "unchanged", "negative"), "let": named(text)},
)
_RULING = keys({"scenario": text, "quote": text, "reason": text}, {"amended": _maybe(_SCENARIO)})
SHAPES: dict[Answering, Check] = {
    Answering.PLAN: keys(
        {
            "summary": text,
            "contract": text,
            "phases": many(keys({"name": text, "objective": text}, {"files": many(text)})),
        }
    ),
    Answering.WORK: keys(
        {"status": one_of("success", "failed", "blocked"), "summary": text},
        {
            "files_changed": many(text),
            "files_created": many(text),
            "validation_result": either(
                one_of("pass", "fail", ""), keys({"passed": truth}, {"command": text, "output_summary": text})
            ),
            "validation_output": text,
            "lessons": many(text),
            "blockers": many(text),
            "disputes": many(keys({"expectation": text, "reason": text})),
        },
    ),
    Answering.REVIEW: keys(
        {
            "summary": text,
            "findings": many(
                keys(
                    {
                        "severity": one_of("critical", "high", "medium", "low"),
                        "where": text,
                        "issue": text,
                        "fix": text,
                    }
                )
            ),
        }
    ),
    Answering.SCENARIOS: keys({"scenarios": many(_SCENARIO)}),
    Answering.RULINGS: keys({"rulings": many(_RULING)}),
    Answering.ADDITIONS: keys({"scenarios": many(_SCENARIO)}),
}


def fits(answering: Answering, value: Any) -> None:
    """Raise Wrong unless this value may be accepted as a result."""
    SHAPES[answering](value)
    match answering:
        case Answering.PLAN:
            must(value["phases"])
            must(all(phase["name"].strip() and "\0" not in phase["name"] for phase in value["phases"]))
        case Answering.WORK:
            must("\0" not in value["summary"])
        case Answering.SCENARIOS | Answering.ADDITIONS:
            names = [scenario["name"] for scenario in value["scenarios"]]
            must((names or answering is Answering.ADDITIONS) and len(set(names)) == len(names))
            for scenario in value["scenarios"]:
                _fits_scenario(scenario)
        case Answering.RULINGS:
            for ruling in value["rulings"]:
                if ruling.get("amended") is not None:
                    _fits_scenario(ruling["amended"])


def _fits_scenario(scenario: dict[str, Any]) -> None:
    must(scenario["steps"])
    for step in scenario["steps"]:
        acts = [name for name in ("request", "run", "probe", "query") if step.get(name) is not None]
        must(len(acts) == 1)
        expect = step.get("expect", {})
        if acts == ["request"]:
            _fits_request(step["request"], expect)
        else:
            must(acts != ["run"] or step["run"]["argv"])
            must(expect.get("status") is None and not expect.get("headers"))
            must(not any(expect.get(f"body_{how}") for how in ("contains", "not_contains", "matches")))
        code = expect.get("exit_code")
        must(not isinstance(code, str) or code == "nonzero")
        orders = [check.get("value") for check in expect.get("json", []) if check.get("op") == "sorted"]
        must(all(order is None or order in ("asc", "desc") for order in orders))
    must(not _only_writes(scenario["steps"][-1]))
    if scenario.get("kind") == "negative":
        must(any(_turns_away(step.get("expect", {})) for step in scenario["steps"]))


def _only_writes(step: dict[str, Any]) -> bool:
    call = step.get("request") or {}
    if call.get("method", "").upper() not in ("POST", "PUT", "PATCH", "DELETE") or call.get("listen"):
        return False
    status = step["expect"]["status"]
    wanted = status if isinstance(status, list) else [status]
    works = any(one == "2xx" or (isinstance(one, int) and one in range(200, 300)) for one in wanted)
    return works and step.get("effect") != "none"


def _fits_request(call: dict[str, Any], expect: dict[str, Any]) -> None:
    status = expect.get("status")
    must(call["path"][:1] == "/" or call["path"][:2] == "{{")
    bodies = (call.get("json") is not None, call.get("body") is not None)
    must(sum((*bodies, bool(call.get("form") or call.get("files")))) <= 1)
    must(status is not None)
    must(not isinstance(status, str) or (len(status) == 3 and status[0] in "12345" and status[1:] == "xx"))
    must(expect.get("exit_code") is None and not expect.get("files"))
    must(not any(expect.get(name) for name in _PROGRAMS))


def _turns_away(expect: dict[str, Any]) -> bool:
    code, status = expect.get("exit_code"), expect.get("status")
    if code is not None:
        codes = code if isinstance(code, list) else [code]
        return bool(codes) and 0 not in codes
    wanted = status if isinstance(status, list) else [status]
    return bool(wanted) and all(item in ("3xx", "4xx") or _is_refusal(item) for item in wanted)


def _is_refusal(status: Any) -> bool:
    return isinstance(status, int) and 300 <= status < 500
