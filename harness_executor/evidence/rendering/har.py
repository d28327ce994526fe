"""The exchanges as HAR 1.2: a page for each scenario on each side, an entry for each request."""

import base64
import binascii
import json
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from harness_executor.evidence.account import Account
from harness_executor.evidence.rendering.difference import BINARY
from harness_executor.kernel.expect import Answer
from harness_executor.kernel.report import Exchange, Execution, Observation, ScenarioRun, Side, StepRun

_EPOCH = "1970-01-01T00:00:00.000+00:00"
_SAFE = "!#$%&'()*+,/:;=?@[]~"


def render(account: Account) -> str:
    """The first run of each side; players that look for an answer find that of the change first."""
    pages: list[dict[str, Any]] = []
    entries: list[dict[str, Any]] = []
    commands = 0
    for side in (Side.CHANGE, Side.BASE):
        for number, view in enumerate(account.observations, 1):
            run = next(iter(view.change if side is Side.CHANGE else view.base), None)
            if run is None or not run.steps:
                continue
            name = f"{side.value}-{number}"
            made = [entry for step in run.steps for entry in _entries(step, name, account.began)]
            commands += sum(isinstance(step.exchange, Execution) for step in run.steps)
            pages.append(_page(name, side, view, made[0]["startedDateTime"] if made else account.began))
            entries += made
    log = {
        "version": "1.2",
        "creator": {"name": "harness-executor", "version": account.program},
        "pages": pages,
        "entries": entries,
        "comment": _comment(account, commands),
    }
    return json.dumps({"log": log}, indent=2, ensure_ascii=True)


def _comment(account: Account, commands: int) -> str:
    said = ["Pages named change-N are the code after the change, base-N the code before."]
    if commands:
        said.append(f"{commands} steps ran a program and are not in here.")
    if account.redacted:
        said.append(f"{account.redacted} secrets were taken out before this was written.")
    return " ".join(said)


def _page(name: str, side: Side, view: Observation, began: str) -> dict[str, Any]:
    word = "after" if side is Side.CHANGE else "before"
    run: ScenarioRun = (view.change if side is Side.CHANGE else view.base)[0]
    return {
        "startedDateTime": began or _EPOCH,
        "id": name,
        "title": f"{word}: {view.scenario.name}",
        "pageTimings": {"onContentLoad": -1, "onLoad": -1},
        "_harness": {
            "side": side.value,
            "kind": view.finding.kind.value,
            "meaning": view.finding.meaning.value,
            "passed": run.passed,
            "why": view.scenario.why,
        },
    }


def _entries(step: StepRun, page: str, began: str) -> Iterator[dict[str, Any]]:
    """What was sent for a step, with the redirects that led there; a program sends nothing."""
    sent = step.exchange
    if isinstance(sent, Exchange):
        for one in (*sent.hops, sent):
            yield {"pageref": page, "startedDateTime": one.at or began or _EPOCH, **_entry(one, step)}


def _entry(sent: Exchange, step: StepRun) -> dict[str, Any]:
    waited = sent.answer.latency_ms if sent.answer else 0
    return {
        "time": waited,
        "request": _request(sent),
        "response": _response(sent),
        "cache": {},
        "timings": {"blocked": -1, "dns": -1, "connect": -1, "send": 0, "wait": waited, "receive": 0},
        "_harness": {
            "step": step.description or sent.asked,
            "passed": step.passed,
            "assertions": [
                {"type": one.type, "expected": one.expected, "actual": one.actual, "passed": one.passed}
                for one in step.assertions
            ],
        },
    }


def _request(sent: Exchange) -> dict[str, Any]:
    url = quote(sent.url, safe=_SAFE)
    query = parse_qsl(urlsplit(sent.url).query, keep_blank_values=True)
    made: dict[str, Any] = {
        "method": sent.method,
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": list(_sent_cookies(sent)),
        "headers": _pairs(tuple(sent.headers.items())),
        "queryString": _pairs(tuple(query)),
        "headersSize": -1,
        "bodySize": len((sent.body or "").encode(errors="replace")),
    }
    if sent.body is not None:
        kind = {name.lower(): value for name, value in sent.headers.items()}.get("content-type", "")
        made["postData"] = {"mimeType": kind, "text": sent.body, **_params(sent.body, kind)}
    return made


def _params(body: str, kind: str) -> dict[str, Any]:
    if not kind.startswith("application/x-www-form-urlencoded"):
        return {}
    return {"params": _pairs(tuple(parse_qsl(body, keep_blank_values=True)))}


def _response(sent: Exchange) -> dict[str, Any]:
    answer = sent.answer
    if answer is None:
        empty = {"size": 0, "mimeType": "x-unknown"}
        made = _answer(0, "", (), empty)
        return {**made, "_error": sent.error, "comment": sent.error}
    made = _answer(answer.status, _phrase(answer.status), answer.headers, _content(answer))
    return {**made, "cookies": list(_set_cookies(answer)), "redirectURL": answer.header("location") or ""}


def _answer(
    status: int, phrase: str, headers: tuple[tuple[str, str], ...], content: dict[str, Any]
) -> dict[str, Any]:
    return {
        "status": status,
        "statusText": phrase,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(headers),
        "content": content,
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": -1,
    }


def _content(answer: Answer) -> dict[str, Any]:
    kind = answer.header("content-type") or "x-unknown"
    if answer.body.startswith(BINARY):
        packed = answer.body.removeprefix(BINARY)
        try:
            length = len(base64.b64decode(packed, validate=True))
        except binascii.Error:
            length = -1
        if length >= 0:
            return {"size": length, "mimeType": kind, "text": packed, "encoding": "base64"}
    return {"size": len(answer.body.encode(errors="replace")), "mimeType": kind, "text": answer.body}


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _pairs(found: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"name": str(name), "value": str(value)} for name, value in found]


def _sent_cookies(sent: Exchange) -> Iterator[dict[str, str]]:
    for name, value in sent.headers.items():
        if name.lower() == "cookie":
            for part in value.split(";"):
                key, _, held = part.strip().partition("=")
                yield {"name": key, "value": held}


def _set_cookies(answer: Answer) -> Iterator[dict[str, Any]]:
    for header, value in answer.headers:
        if header.lower() != "set-cookie":
            continue
        first, *rest = value.split(";")
        name, _, held = first.strip().partition("=")
        cookie: dict[str, Any] = {"name": name, "value": held}
        for part in rest:
            cookie |= _attribute(*part.strip().partition("=")[::2])
        yield cookie


def _attribute(name: str, value: str) -> dict[str, Any]:
    match name.lower():
        case "path" | "domain":
            return {name.lower(): value}
        case "httponly":
            return {"httpOnly": True}
        case "secure":
            return {"secure": True}
        case "expires":
            return _expiry(value)
    return {}


def _expiry(value: str) -> dict[str, str]:
    try:
        return {"expires": parsedate_to_datetime(value).isoformat()}
    except (ValueError, TypeError):
        return {}
