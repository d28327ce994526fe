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


_OPS = ("equals", "not_equals", "exists", "absent", "type", "length")
_MORE_OPS = ("contains", "matches", "at_least", "at_most")
_STEP = keys(
    {
        "request": keys(
            {"path": text},
            {"method": text, "headers": named(text), "json": anything, "body": either(text, _nothing)},
        ),
        "expect": keys(
            {"status": either(_integer, many(_integer), text)},
            {
                "headers": named(text),
                "json": many(keys({"path": text}, {"op": one_of(*_OPS, *_MORE_OPS), "value": anything})),
                "body_contains": many(text),
                "body_not_contains": many(text),
                "body_matches": many(text),
            },
        ),
    },
    {"description": text, "capture": named(text), "because": text},
)
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
    Answering.SCENARIOS: keys(
        {
            "scenarios": many(
                keys(
                    {"name": text, "why": text, "steps": many(_STEP)},
                    {"kind": one_of("new", "changed", "unchanged", "negative"), "let": named(text)},
                )
            )
        }
    ),
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
        case Answering.SCENARIOS:
            names = [scenario["name"] for scenario in value["scenarios"]]
            must(names and len(set(names)) == len(names))
            for scenario in value["scenarios"]:
                _fits_scenario(scenario)


def _fits_scenario(scenario: dict[str, Any]) -> None:
    must(scenario["steps"])
    for step in scenario["steps"]:
        status = step["expect"]["status"]
        must(step["request"]["path"][:1] == "/" or step["request"]["path"][:2] == "{{")
        must(step["request"].get("json") is None or step["request"].get("body") is None)
        must(
            not isinstance(status, str) or (len(status) == 3 and status[0] in "12345" and status[1:] == "xx")
        )
    if scenario.get("kind") == "negative":
        wanted = [step["expect"]["status"] for step in scenario["steps"]]
        lists = [one if isinstance(one, list) else [one] for one in wanted]
        must(any(one and all(item in ("3xx", "4xx") or _is_refusal(item) for item in one) for one in lists))


def _is_refusal(status: Any) -> bool:
    return isinstance(status, int) and 300 <= status < 500
