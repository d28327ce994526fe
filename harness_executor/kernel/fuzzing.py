"""Requests drawn from an OpenAPI document: what of it is used, and which failures are the change's own."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any
from urllib.parse import urlsplit

from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import SCHEMATHESIS, Finding, Meaning
from harness_executor.kernel.scenario import Kind

SERVER_ERROR = "not_a_server_error"
CHECKS = (SERVER_ERROR, "response_schema_conformance")
"""The checks that count; others complain of what clients never notice."""
STAYS_UP = "stays_up"
TITLE = "drawn requests"
EVERYTHING = "the server"
"""What is named when no operation can be."""

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_LEADING_AWAY = {"externalValue": str, "servers": list, "$id": str, "$schema": str, "host": str}
"""Keys, with the type that makes them more than the name of a property, which name another place."""
_SAYS = {
    SERVER_ERROR: "has no server error",
    CHECKS[1]: "answers as its document says",
    STAYS_UP: "stays up",
}


@frozen
class Failure:
    """One operation that one check complains of."""

    operation: str
    check: str


@frozen
class Drawn:
    """What drawn requests showed of one server."""

    failures: Mapping[Failure, str]
    """Each with the first request that showed it."""
    cases: int = 0


@frozen
class Compared:
    """All that is known of both sides."""

    base: tuple[Drawn, ...]
    change: tuple[Drawn, ...]
    known: frozenset[str] = field(default_factory=frozenset)
    """Operations that the base documents."""

    @property
    def new(self) -> dict[Failure, str]:
        """Failures of every run of the change and of no run of the base."""
        seen = {failure for drawn in self.base for failure in drawn.failures}
        first, *more = self.change
        return {
            failure: example
            for failure, example in first.failures.items()
            if failure not in seen and all(failure in drawn.failures for drawn in more)
        }


def operations(document: Any) -> frozenset[str]:
    """The operations a document describes, such as `GET /items`; none if it is no OpenAPI document."""
    if not isinstance(document, dict) or not {"openapi", "swagger"} & document.keys():
        return frozenset()
    paths = document.get("paths")
    items = paths.items() if isinstance(paths, dict) else ()
    return frozenset(
        f"{method.upper()} {path}"
        for path, item in items
        if isinstance(item, dict)
        for method in _METHODS
        if method in item
    )


def kept_here(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without what names another place: it was written by those who are examined."""
    servers = document.get("servers")
    first = servers[0] if isinstance(servers, list) and servers else None
    url = first.get("url") if isinstance(first, dict) else None
    path = _path(url) if isinstance(url, str) else ""
    return {**_kept_here(document), **({"servers": [{"url": path}]} if path else {})}


def _path(url: str) -> str:
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return path if path.startswith("/") and "{" not in path else ""


def _kept_here(document: Any) -> Any:
    if isinstance(document, dict):
        return {name: _kept_here(value) for name, value in document.items() if not _leads_away(name, value)}
    if isinstance(document, list):
        return [_kept_here(value) for value in document]
    return document


def _leads_away(name: str, value: Any) -> bool:
    kind = _LEADING_AWAY.get(name)
    return kind is not None and isinstance(value, kind)


def refers_elsewhere(document: Any) -> bool:
    """Does any reference lead out of the document, to a file or to another machine?"""
    if isinstance(document, list):
        return any(map(refers_elsewhere, document))
    if not isinstance(document, dict):
        return False
    refs = [document.get(name) for name in ("$ref", "$dynamicRef", "$recursiveRef", "operationRef")]
    away = any(isinstance(ref, str) and not ref.startswith("#") for ref in refs)
    return away or any(map(refers_elsewhere, document.values()))


def drawn_from(events: Iterable[Mapping[str, Any]], documented: frozenset[str]) -> Drawn | None:
    """What a run of Schemathesis told, event by event; nothing unless it ended by itself."""
    failures: dict[Failure, str] = {}
    cases, has_ended = 0, False
    for event in events:
        if "FatalError" in event:
            return None
        if "ScenarioFinished" in event:
            recorder = event["ScenarioFinished"]["recorder"]
            cases += len(recorder.get("cases", ()))
            ours = {one: example for one, example in _failures(recorder) if one.operation in documented}
            failures = {**ours, **failures}
        if "EngineFinished" in event:
            has_ended = event["EngineFinished"]["stop_reason"] == "completed"
    return Drawn(failures, cases) if has_ended else None


def _failures(recorder: Mapping[str, Any]) -> Iterator[tuple[Failure, str]]:
    for number, checks in recorder.get("checks", {}).items():
        case, exchange = recorder["cases"][number]["value"], recorder.get("interactions", {}).get(number)
        for check in checks:
            if check["status"] == "failure" and check["name"] in CHECKS:
                yield Failure(f"{case['method']} {case['path']}", check["name"]), _example(exchange)


def _example(exchange: Mapping[str, Any] | None) -> str:
    if not exchange or not exchange.get("response"):
        return "no answer came"
    request = exchange["request"]
    path = "/" + str(request["uri"]).split("/", 3)[-1]
    return f"{request['method']} {path[:300]} was answered with {exchange['response']['status_code']}"


def findings_of(compared: Compared) -> tuple[Finding, ...]:
    """What the new failures mean; without any, that everything holds."""
    found = tuple(_finding(compared, failure, example) for failure, example in compared.new.items())
    cases = compared.change[0].cases
    held = f"{cases} requests drawn from the OpenAPI document show no failure that base does not have"
    return found or (remark(held, Meaning.HOLDS),)


def remark(reason: str, meaning: Meaning = Meaning.NOISY) -> Finding:
    """What is to be said of all drawn requests together."""
    return Finding(TITLE, Kind.UNCHANGED, SCHEMATHESIS, meaning, reason)


def _finding(compared: Compared, failure: Failure, example: str) -> Finding:
    name = f"{TITLE}: {failure.operation} {_SAYS[failure.check]}"
    return Finding(name, Kind.UNCHANGED, SCHEMATHESIS, _meaning(compared, failure), example)


def _meaning(compared: Compared, failure: Failure) -> Meaning:
    if failure.check == STAYS_UP or failure.operation in compared.known:
        return Meaning.REGRESSES
    return Meaning.MISSING if failure.check == SERVER_ERROR else Meaning.NOISY
