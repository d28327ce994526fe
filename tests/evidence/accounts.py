"""Accounts of small verifications, with hostile texts in them, and on disk."""

from dataclasses import replace
from pathlib import Path

from harness_executor.evidence.account import Account, keep, read_account
from harness_executor.evidence.watch import Span
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.control import ControlFile
from harness_executor.kernel.expect import Answer, Assertion, Ended
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.gate import Verdict
from harness_executor.kernel.report import (
    Evidence,
    Exchange,
    Execution,
    Finding,
    Meaning,
    Observation,
    ScenarioRun,
    ServerRecord,
    Side,
    StepRun,
)
from harness_executor.kernel.scenario import Kind
from harness_executor.store.seal import Seal
from tests.evidence.apps import get, scenario

RUN = "0" * 31 + "a"
AT = "2026-11-18T07:00:00.000+00:00"
HOSTILE = "</script><img src=x onerror=alert(1)>\x1b[31m\u202egnp.\x07 \"&' ::error::no `` ``` | @all http://evil.example"
"""What a hostile server says, in every language at once."""


def asked(path: str, status: int, body: str, *, passed: bool = True, **more: str) -> StepRun:
    """One request and its answer."""
    headers = (("content-type", "application/json"), ("set-cookie", "sid=1; Path=/; HttpOnly"))
    answer = Answer(status, headers, body, 12.5)
    sent = Exchange(
        more.get("method", "GET"), f"http://127.0.0.1:8000{path}", {"accept": "*/*", "cookie": "a=b"},
        more.get("sent"), answer, at=AT,
    )  # fmt: skip
    check = Assertion("status_code", 200, status, passed)
    return StepRun(more.get("description", ""), sent, Expect(200), (check,))


def ran(name: str, *steps: StepRun) -> ScenarioRun:
    """One scenario on one server."""
    return ScenarioRun(name, steps, complete=True)


def view(
    name: str, meaning: Meaning, before: ScenarioRun, after: ScenarioRun, reason: str = ""
) -> Observation:
    """One scenario and what it means."""
    finding = Finding(name, Kind.NEW, "scenario_file", meaning, reason, (), 5, 5)
    return Observation(scenario(name, get("/x")), (before,), (after,), finding)


PROOF = view(
    "stats",
    Meaning.PROVES,
    ran("stats", asked("/stats?a=1&b=%20", 404, '{"error": "not found"}', passed=False)),
    ran("stats", asked("/stats?a=1&b=%20", 200, '{"total": 2, "open": 1}')),
)
HARM = view(
    HOSTILE,
    Meaning.REGRESSES,
    ran(HOSTILE, asked("/x", 200, "fine", sent='{"t": 1}', method="POST")),
    ran(HOSTILE, asked("/x", 500, HOSTILE, passed=False, sent='{"t": 1}', method="POST")),
    reason=f"GET /x: {HOSTILE}\n::error::injected",
)
_TOLD = Execution(("tool", "-v"), "in", {}, {}, Ended(0, (), "1\n", 3.0, "e"))
_DONE = StepRun("", _TOLD, Expect(), (Assertion("exit_code", 0, 0, passed=True),))
PROGRAM = view("a program", Meaning.HOLDS, ran("a program", _DONE), ran("a program", _DONE))


_FINE = (True, True, 0.2, True, True)


def account(*views: Observation, reasons: tuple[str, ...] = (), **bound: str) -> Account:
    """An account of these scenarios."""
    servers = tuple(
        ServerRecord(
            side, 1, started=True, owns_port=True, ready_in_seconds=0.2, stopped=True, port_free=True
        )
        for side in Side
    )
    tree = bound.get("tree", "c" * 40)
    evidence = Evidence(
        RUN, "", bound.get("base", "b" * 40), tree, tree, "d" * 64, "e" * 64, Assurance.SANDBOXED,
        servers, tuple(one.finding for one in views),
        control=(ControlFile(".mcp.json", "an agent", created=True),) if reasons else (),
    )  # fmt: skip
    checks = (CheckResult("test", "make test", base_passed=True, change_passed=not reasons, output=HOSTILE),)
    spans = (Span("base server 1", 0.1, 0.9, 0.2), Span("change server 1", 0.1, 0.8, 0.2))
    verdict = Verdict(accepted=not reasons, reasons=reasons)
    logs = {"change-1": f"GET /x\n{HOSTILE}\n"}
    return Account(evidence, verdict, views, checks, "add stats", began=AT, spans=spans, logs=logs)


GOOD = account(PROOF, PROGRAM)
BAD = account(
    PROOF, HARM, PROGRAM, reasons=(f"{HOSTILE} passed on base and fails now: GET /x", "the proof is too weak")
)


def on_disk(told: Account, folder: Path, seal: Seal) -> Path:
    """The folder of a run, with everything that a verification leaves."""
    place = folder / told.evidence.run_id
    place.mkdir(parents=True)
    (place / "change-1.jsonl").write_text('{"method": "GET"}\n')
    (place / "change-1.log").write_text("GET /stats\n")
    keep(replace(told, logs={}), place, seal)
    assert read_account(place, seal).verdict == told.verdict
    return place
