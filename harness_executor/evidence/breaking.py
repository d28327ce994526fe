"""Broken answers: what a server could have said instead, each with the class it belongs to."""

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from harness_executor.evidence.breaking_json import Place, broken_values
from harness_executor.kernel.expect import Answer
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.report import StepRun

STATUS = "another status"
NEAR = "another status of its class"
EMPTY = "an empty body"
KEY = Place.KEY.value
VALUE = Place.VALUE.value
TEXT = "another text"
LOCATION = "another location"
HEADER = "a header dropped"
STALE = "an answer from before"
MARKUP = "a text or attribute changed"
PART = "a part of the body lost"

Broken = tuple[str, Answer]

_BINARY = "base64:"
_NEIGHBOURS = {200: 201, 201: 200, 202: 200, 204: 200, 301: 302, 302: 301, 303: 302, 307: 302, 308: 301}
_MARKED = re.compile(r">([^<>]*[^<>\s][^<>]*)<|=\"([^\"<>]+)\"|='([^'<>]+)'")
_MOST_PLACES = 60
_LARGE = 200_000
_FEW_PLACES = 8
"""In how many places a body is broken, and one so large that writing it anew takes its time."""


def broken_answers(answer: Answer, expect: Expect) -> Iterator[Broken]:
    """Every way in which an answer is broken."""
    yield from _statuses(answer)
    yield from _headers(answer, expect)
    if answer.status not in (101, *range(200, 300)) or not answer.body.strip():
        return
    yield EMPTY, replace(answer, body="")
    try:
        value = answer.json()
    except ValueError:
        yield from _texts(answer)
        return
    if isinstance(value, dict | list) and value:
        yield EMPTY, replace(answer, body=json.dumps(type(value)()))
    for name, broken in broken_values(value, _places(answer)):
        yield name.value, replace(answer, body=json.dumps(broken))


def stale(step: StepRun, before: tuple[StepRun, ...]) -> Iterator[Broken]:
    """What the server said when it was last asked the same, if that was something else."""
    answer = step.exchange.answer
    for earlier in reversed(before):
        said = earlier.exchange.answer
        if said is None or answer is None or earlier.exchange.asked != step.exchange.asked:
            continue
        if said.body != answer.body:
            yield STALE, replace(answer, body=said.body)
        return


def _statuses(answer: Answer) -> Iterator[Broken]:
    for status in (500, 404, 200):
        if status // 100 != answer.status // 100:
            yield STATUS, replace(answer, status=status)
    near = _NEIGHBOURS.get(answer.status)
    if 400 <= answer.status < 500:
        near = 400 if answer.status == 404 else 404
    if near:
        yield NEAR, replace(answer, status=near)


def _headers(answer: Answer, expect: Expect) -> Iterator[Broken]:
    if 300 <= answer.status < 400 and answer.header("location"):
        elsewhere = [
            (name, "elsewhere" if name.lower() == "location" else value) for name, value in answer.headers
        ]
        yield LOCATION, replace(answer, headers=tuple(elsewhere))
    for wanted in expect.headers:
        kept = tuple(pair for pair in answer.headers if pair[0].lower() != wanted.lower())
        if len(kept) < len(answer.headers):
            yield HEADER, replace(answer, headers=kept)


def _places(answer: Answer) -> int:
    return _MOST_PLACES if len(answer.body) < _LARGE else _FEW_PLACES


def _texts(answer: Answer) -> Iterator[Broken]:
    body = answer.body
    turned = body.swapcase()[::-1]
    yield TEXT, replace(answer, body=turned if turned != body else f"{turned}x")
    if body.startswith(_BINARY):
        for content in _bytes(base64.b64decode(body.removeprefix(_BINARY))):
            yield PART, replace(answer, body=_BINARY + base64.b64encode(content).decode())
        return
    most = _places(answer)
    for found in islice(_MARKED.finditer(body), most):
        start, end = found.span(found.lastindex or 0)
        yield MARKUP, replace(answer, body=f"{body[:start]}{body[start:end].swapcase()[::-1]}x{body[end:]}")
    lines = body.splitlines(keepends=True)
    for number in range(min(len(lines), most) if len(lines) > 1 else 0):
        yield PART, replace(answer, body="".join(lines[:number] + lines[number + 1 :]))


def _bytes(content: bytes) -> Iterator[bytes]:
    middle = len(content) // 2
    yield content[:middle]
    yield content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :] if content else b"\0"
