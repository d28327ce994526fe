"""Schemathesis as an extra check: requests drawn from the change's OpenAPI document, sent to both sides."""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from socket import create_server
from typing import Any

from harness_executor.errors import BoxBroke, ServerError, ServiceFailed, UsageError
from harness_executor.evidence.differential import Lab, Place
from harness_executor.evidence.exchange import Client
from harness_executor.evidence.server import Server, Stand, running_server
from harness_executor.kernel.acts import Call
from harness_executor.kernel.canonical import canonical, parse
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.fuzzing import (
    CHECKS,
    EVERYTHING,
    STAYS_UP,
    Compared,
    Drawn,
    Failure,
    drawn_from,
    findings_of,
    kept_here,
    operations,
    refers_elsewhere,
    remark,
)
from harness_executor.kernel.report import Finding, Observation, Side
from harness_executor.kernel.scenario import Scenario
from harness_executor.sandbox.process import run_within
from harness_executor.sandbox.relay import forwarding

PLACES = ("/openapi.json", "/swagger.json", "/api/openapi.json", "/v3/api-docs", "/api/schema?format=json")
"""Where a document is looked for."""
_SECONDS = 300.0
_EXAMPLES = 20
_LARGEST = 64_000_000
"""Bytes of a report that are read."""
_NOWHERE = "http://127.0.0.1:9"
_ENVIRONMENT = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), _NOWHERE),
    "NO_PROXY": "127.0.0.1",
    "PYTHONIOENCODING": "utf-8",
}
"""Nothing of ours, and no way to another machine."""
_UNENDED = f"Schemathesis could not use the OpenAPI document, or did not end within {_SECONDS:g} s"
_WHY = "what clients may send by the OpenAPI document must not break the server"


@frozen
class Ask:
    """What is asked of servers, and where files of it lie."""

    lab: Lab
    folder: Path
    document: Any = None
    """What requests are drawn from, on both sides: the change's, or the base's where the change has none."""


@frozen
class Seen:
    """One server that was asked."""

    document: Any
    """The one it serves itself, or nothing."""
    drawn: Drawn | None


def require() -> None:
    """Refuse unless Schemathesis is installed."""
    if find_spec("schemathesis") is None:
        raise UsageError(
            "--fuzz needs Schemathesis, which is not installed", hint="pip install 'harness-executor[fuzz]'"
        )


def fuzz(lab: Lab, places: tuple[Place, ...], folder: Path) -> tuple[Observation, ...]:
    """Both sides asked with drawn requests; what seems new is asked again on a fresh pair of servers."""
    try:
        found = _examined(Ask(lab, folder), places)
    except (ServerError, BoxBroke, ServiceFailed) as error:
        found = (remark(f"a server for drawn requests could not be used: {error.message.splitlines()[0]}"),)
    for finding in found:
        lab.notify(f"{finding.name}: {finding.reason}")
    return tuple(Observation(_scenario(finding), (), (), finding) for finding in found)


def _scenario(finding: Finding) -> Scenario:
    return Scenario(finding.name, _WHY, (), finding.kind)


def _examined(ask: Ask, places: tuple[Place, ...]) -> tuple[Finding, ...]:
    pairs = [[one for one in places if one.side is side] for side in (Side.BASE, Side.CHANGE)]
    first, *others = zip(*pairs, strict=True)
    change = _on(ask, first[1])
    speaks = change if change.document is not None else _on(ask, first[0])
    if speaks.document is None:
        return (remark(f"neither side serves an OpenAPI document at {', '.join(PLACES)}"),)
    if refers_elsewhere(speaks.document):
        return (remark("the OpenAPI document refers to other files, which are not read"),)
    ask = replace(ask, document=speaks.document)
    base = _on(ask, first[0]) if speaks is change else speaks
    change = change if speaks is change else _on(ask, first[1])
    if base.drawn is None or change.drawn is None:
        return (remark(_UNENDED),)
    compared = Compared((base.drawn,), (change.drawn,), operations(base.document))
    return _confirmed(ask, compared, others[0]) if compared.new else findings_of(compared)


def _confirmed(ask: Ask, compared: Compared, pair: tuple[Place, ...]) -> tuple[Finding, ...]:
    """The same on another pair: what differs between repetitions never decides."""
    ask.lab.notify("drawn requests fail on the change: they are sent again to a fresh pair of servers")
    base, change = (_on(ask, place).drawn for place in pair)
    if base is None or change is None:
        return (remark(_UNENDED),)
    both = replace(compared, base=(*compared.base, base), change=(*compared.change, change))
    return findings_of(both)


def _on(ask: Ask, place: Place) -> Seen:
    """What one server shows; the first asked says what is asked."""
    if place.problem:
        raise place.problem
    lab = ask.lab
    stand = Stand(place.room, place.log, lab.port, lab.wanted)
    with running_server(lab.start_of(place.side), stand, lab.sandbox, lab.clock) as server:
        own = _document(server)
        document = own if ask.document is None else ask.document
        if document is None or refers_elsewhere(document):
            return Seen(own, None)
        drawn = _drawn(server, kept_here(document), ask.folder / f"{place.side.value}-{place.run}")
        return Seen(own, _with_end(server, drawn))


def _document(server: Server) -> Any:
    with Client(server.url, server.clock, server.box.dial) as client:
        for path in PLACES:
            answer = client.send(Call(path)).answer
            document = _read(answer.body) if answer and answer.status == 200 else None
            if operations(document):
                return document
    return None


def _read(text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        return None


def _with_end(server: Server, drawn: Drawn | None) -> Drawn | None:
    """A server that is gone afterwards has failed, whatever was told of single requests."""
    try:
        server.prove_ours()
    except ServerError as error:
        gone = {Failure(EVERYTHING, STAYS_UP): error.message.splitlines()[0]}
        return Drawn({**(drawn.failures if drawn else {}), **gone}, drawn.cases if drawn else 0)
    return drawn


def _drawn(server: Server, document: Mapping[str, Any], folder: Path) -> Drawn | None:
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "document.json").write_text(canonical(document), encoding="utf-8")
    (folder / "none.toml").touch()
    report = folder / "report.ndjson"
    with create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with forwarding(listener, partial(server.box.dial, server.port)):
            ended = run_within(_words(port), _ENVIRONMENT, folder, _SECONDS)
    if not ended or not report.is_file() or report.stat().st_size > _LARGEST:
        return None
    try:
        return drawn_from(_events(report), operations(document))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _events(report: Path) -> Iterator[Mapping[str, Any]]:
    with report.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _words(port: int) -> list[str]:
    chosen = {
        "origin": f"http://127.0.0.1:{port}",
        "checks": ",".join(CHECKS),
        "phases": "examples,coverage,fuzzing",
        "max-examples": str(_EXAMPLES),
        "workers": "1",
        "max-redirects": "0",
        "request-timeout": "10",
        "report": "ndjson",
        "report-ndjson-path": "report.ndjson",
    }
    options = [word for name, value in chosen.items() for word in (f"--{name}", value)]
    flags = ["--generation-deterministic", "--continue-on-failure", "--no-shrink", "--no-color"]
    program = [sys.executable, "-I", "-m", "schemathesis.cli", "--config-file", "none.toml"]
    return [*program, "run", "document.json", *options, *flags]
