"""Does an answer meet an expectation?"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from harness_executor.kernel import jsonpath
from harness_executor.kernel.canonical import parse
from harness_executor.kernel.expectation import Expect, FileCheck, JsonCheck, Op
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.patterns import matches
from harness_executor.kernel.relations import RELATIONS

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


@frozen
class Answer:
    """An HTTP response as it was received."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str
    latency_ms: float = 0.0

    def header(self, name: str) -> str | None:
        """The value of a header, whatever its case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def json(self) -> Any:
        """The body as JSON; raises ValueError when it is not, or could be read in more than one way."""
        return parse(self.body.removeprefix("\ufeff"))


@frozen
class Ended(Answer):
    """How a program ended: its exit code is the status, and its standard output the body."""

    stderr: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files that were asked about and are there, by their place."""


@frozen
class Assertion:
    """One comparison and how it came out."""

    type: str
    expected: Any
    actual: Any
    passed: bool


def check(expect: Expect, answer: Answer) -> tuple[Assertion, ...]:
    """Every comparison the expectation asks for."""
    return tuple(_assertions(expect, answer))


def captured(path: str, answer: Answer) -> Any:
    """The value a step remembers of its answer; raises LookupError when it is not there."""
    try:
        found = jsonpath.find(path, answer.json())
    except ValueError:
        found = []
    if not found:
        raise LookupError(f"the answer has nothing at {path}")
    return found if jsonpath.is_many(path) else found[0]


def _assertions(expect: Expect, answer: Answer) -> Iterator[Assertion]:
    if isinstance(answer, Ended):
        yield from _of_program(expect, answer)
    else:
        yield from _of_server(expect, answer)
    for wanted in expect.json:
        yield _json_assertion(wanted, answer)
    bodies = (expect.body_contains, expect.body_not_contains, expect.body_matches)
    yield from _texts("body", answer.body, bodies)


def _of_server(expect: Expect, answer: Answer) -> Iterator[Assertion]:
    if expect.status is None:
        yield Assertion("status_code", "below 400", answer.status, answer.status < 400)
    else:
        fits = _status_fits(expect.status, answer.status)
        yield Assertion("status_code", expect.status, answer.status, fits)
    for name, part in expect.headers.items():
        said = [value for key, value in answer.headers if key.lower() == name.lower()]
        fits = any(str(part).lower() in value.lower() for value in said)
        yield Assertion(f"header {name} contains", part, ", ".join(said) if said else None, fits)


def _of_program(expect: Expect, ended: Ended) -> Iterator[Assertion]:
    wanted = 0 if expect.exit_code is None else expect.exit_code
    fits = ended.status != 0 if isinstance(wanted, str) else _status_fits(wanted, ended.status)
    yield Assertion("exit_code", wanted, ended.status, fits)
    streams = (expect.stdout_contains, expect.stdout_not_contains, expect.stdout_matches)
    yield from _texts("stdout", ended.body, streams)
    errors = (expect.stderr_contains, expect.stderr_not_contains, expect.stderr_matches)
    yield from _texts("stderr", ended.stderr, errors)
    for name, file in expect.files.items():
        yield from _of_file(name, file, ended.files.get(name))


def _of_file(name: str, wanted: FileCheck, text: str | None) -> Iterator[Assertion]:
    there = text is not None
    yield Assertion(f"file_created {name}", wanted.exists, there, there is wanted.exists)
    if text is None:
        return
    if wanted.equals is not None:
        yield Assertion(f"file {name} equals", wanted.equals, _clip(text), text == wanted.equals)
    yield from _texts(f"file {name}", text, (wanted.contains, (), wanted.matches))


def _texts(
    what: str, text: str, wanted: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
) -> Iterator[Assertion]:
    contains, not_contains, patterns = wanted
    for part in contains:
        yield Assertion(f"{what}_contains", part, _clip(text), part in text)
    for part in not_contains:
        yield Assertion(f"{what}_not_contains", part, _clip(text), part not in text)
    for pattern in patterns:
        yield Assertion(f"{what}_matches", pattern, _clip(text), matches(pattern, text))


def _status_fits(wanted: int | tuple[int, ...] | str, status: int) -> bool:
    match wanted:
        case int():
            return status == wanted
        case str():
            return re.fullmatch(wanted.lower().replace("x", r"\d"), str(status)) is not None
        case _:
            return status in wanted


def _json_assertion(wanted: JsonCheck, answer: Answer) -> Assertion:
    kind = f"json_path {wanted.path} {wanted.op.value}"
    try:
        found = jsonpath.find(wanted.path, answer.json())
    except jsonpath.BadPath as error:
        return Assertion(kind, wanted.value, str(error), passed=False)
    except ValueError:
        return Assertion(kind, wanted.value, f"not JSON: {_clip(answer.body, 80)}", passed=False)
    if wanted.op is Op.ABSENT:
        return Assertion(kind, None, found, not found)
    if wanted.op is Op.EXISTS:
        return Assertion(kind, None, found, bool(found))
    if not found and not jsonpath.is_many(wanted.path):
        return Assertion(kind, wanted.value, "nothing there", passed=False)
    actual = found if jsonpath.is_many(wanted.path) else found[0]
    return Assertion(kind, wanted.value, actual, _fits(wanted.op, actual, wanted.value))


def _fits(op: Op, actual: Any, value: Any) -> bool:
    match op:
        case Op.EQUALS:
            return same(actual, value)
        case Op.NOT_EQUALS:
            return not same(actual, value)
        case Op.EXISTS | Op.ABSENT:
            return op is Op.EXISTS
        case Op.TYPE:
            return _is_type(actual, value)
        case Op.LENGTH:
            return isinstance(actual, list | dict | str) and len(actual) == value
        case Op.CONTAINS:
            return _contains(actual, value)
        case Op.MATCHES:
            return isinstance(actual, str) and matches(str(value), actual)
    return RELATIONS[op](actual, value)


def same(left: Any, right: Any) -> bool:
    """Equal as JSON: true is not 1, and 1 equals 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _is_type(actual: Any, name: Any) -> bool:
    if isinstance(actual, bool):
        return bool(name == "boolean")
    return isinstance(actual, _TYPES.get(str(name), ()))


def _contains(actual: Any, value: Any) -> bool:
    match actual:
        case str():
            return str(value) in actual
        case list():
            return any(same(item, value) for item in actual)
        case dict() if isinstance(value, dict):
            return all(key in actual and same(actual[key], value[key]) for key in value)
        case dict():
            return isinstance(value, str) and value in actual
    return False


def _clip(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
