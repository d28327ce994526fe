"""One verification told whole: written once beside its exchanges, bound by the seal, and read again later."""

import hashlib
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, get_args

from harness_executor import __version__
from harness_executor.errors import Refused
from harness_executor.evidence.examination import Examination
from harness_executor.evidence.watch import Span
from harness_executor.kernel.canonical import canonical, parse_own
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.expect import Answer, Assertion, Ended
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.gate import Claim, Verdict
from harness_executor.kernel.report import (
    OWN,
    PREDEFINED,
    Deed,
    Evidence,
    Finding,
    Observation,
    ScenarioRun,
    StepRun,
)
from harness_executor.kernel.scenario import Scenario, scenarios_digest
from harness_executor.redaction import Redactor
from harness_executor.store.codec import build, plain
from harness_executor.store.files import write_atomically
from harness_executor.store.seal import Seal

ACCOUNT = "account.json"
"""Everything that was observed, and the verdict."""
EVIDENCE = "evidence.json"
"""The sealed evidence, which names every other file with its digest."""

_DEEDS: Mapping[str, type[Any]] = {kind.__name__: kind for kind in get_args(Deed)}
_ANSWERS: Mapping[str, type[Any]] = {kind.__name__: kind for kind in (Answer, Ended)}


@frozen
class Account:
    """What is told of one verification."""

    evidence: Evidence
    verdict: Verdict
    observations: tuple[Observation, ...]
    checks: tuple[CheckResult, ...] = ()
    request: str = ""
    refactor: bool = False
    began: str = ""
    spans: tuple[Span, ...] = ()
    redacted: int = 0
    """How many secrets were taken out."""
    program: str = __version__
    """The version that recorded it."""
    logs: Mapping[str, str] = field(default_factory=dict)
    """What each server said, by its name."""


def account_of(examination: Examination, claim: Claim, verdict: Verdict, redactor: Redactor) -> Account:
    """What is to be told of an examination, without secrets."""
    about, evidence = examination.about, examination.evidence
    told = Account(
        evidence,
        verdict,
        examination.observations,
        about.checks,
        about.request,
        claim.refactor,
        about.began,
        about.spans,
        sum(side.redacted for side in examination.sides),
    )
    return _told(redactor.clean_data(_data(told)), evidence, {})


def keep(account: Account, folder: Path, seal: Seal) -> Evidence:
    """Write an account into the folder of its run; gives the sealed evidence, which binds every file."""
    write_atomically(folder / ACCOUNT, canonical(_data(account)) + "\n")
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())
    kept = {path.name: sha256(path.read_bytes()) for path in files if path.name != EVIDENCE}
    sealed = seal.put(replace(account.evidence, kept=kept))
    write_atomically(folder / EVIDENCE, canonical(plain(sealed)) + "\n")
    return sealed


def read_account(folder: Path, seal: Seal) -> Account:
    """The account of a run; one bit that is not as it was recorded, in any file, and it is refused."""
    evidence = _evidence(folder, seal)
    files = {name: read_kept(folder, name, digest) for name, digest in evidence.kept.items()}
    logs = {
        name.removesuffix(".log"): text.decode(errors="replace")
        for name, text in files.items()
        if name.endswith(".log")
    }
    try:
        return _told(parse_own(files[ACCOUNT].decode()), evidence, logs)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise altered(folder, f"{ACCOUNT} cannot be read: {error}") from error


def scenarios_of(account: Account) -> tuple[Scenario, ...]:
    """The scenarios of the task as they were tried; none if a secret had to be taken out of them."""
    views = [view for view in account.observations if view.finding.source not in (*OWN, PREDEFINED)]
    found = tuple(view.scenario for view in views)
    return found if scenarios_digest(found) == account.evidence.scenario_digest else ()


def read_kept(folder: Path, name: str, digest: str) -> bytes:
    """The bytes of a file that was kept; refused when they are not those that were kept."""
    path = folder / name
    if name != Path(name).name or path.is_symlink() or not path.is_file():
        raise altered(folder, f"{name} is missing")
    content = path.read_bytes()
    if sha256(content) != digest:
        raise altered(folder, f"{name} is not as it was recorded")
    return content


def sha256(content: bytes) -> str:
    """The digest that files are bound by."""
    return hashlib.sha256(content).hexdigest()


def altered(folder: Path, what: str) -> Refused:
    """The refusal of a run whose files are not as they were recorded."""
    return Refused(
        f"the evidence of run {folder.name} was altered: {what}",
        hint="verify again; what was recorded cannot be trusted any more",
    )


def _evidence(folder: Path, seal: Seal) -> Evidence:
    path = folder / EVIDENCE
    if path.is_symlink() or not path.is_file():
        raise altered(folder, f"{EVIDENCE} is missing")
    return checked_evidence(path.read_bytes(), folder, seal)


def checked_evidence(content: bytes, folder: Path, seal: Seal) -> Evidence:
    """The sealed evidence of these bytes, which are refused when one of them is another."""
    try:
        data = parse_own(content.decode())
        found = build(Evidence, data)
        is_ours = canonical(data).encode() + b"\n" == content and seal.fits(found)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise altered(folder, f"{EVIDENCE} cannot be read: {error}") from error
    if not is_ours:
        raise altered(folder, f"the seal of {EVIDENCE} does not fit; or it was recorded elsewhere")
    return found


def _data(account: Account) -> dict[str, Any]:
    return {
        "program": account.program,
        "began": account.began,
        "request": account.request,
        "refactor": account.refactor,
        "redacted": account.redacted,
        "verdict": plain(account.verdict),
        "checks": plain(account.checks),
        "spans": plain(account.spans),
        "observations": [_observed(view) for view in account.observations],
    }


def _told(data: Mapping[str, Any], evidence: Evidence, logs: Mapping[str, str]) -> Account:
    return Account(
        evidence,
        build(Verdict, data["verdict"]),
        tuple(_observation(view) for view in data["observations"]),
        tuple(build(CheckResult, result) for result in data["checks"]),
        data["request"],
        data["refactor"],
        data["began"],
        tuple(build(Span, span) for span in data["spans"]),
        data["redacted"],
        data["program"],
        logs,
    )


def _observed(view: Observation) -> dict[str, Any]:
    return {
        "scenario": plain(view.scenario),
        "finding": plain(view.finding),
        "base": [_ran(run) for run in view.base],
        "change": [_ran(run) for run in view.change],
    }


def _observation(data: Mapping[str, Any]) -> Observation:
    return Observation(
        build(Scenario, data["scenario"]),
        tuple(_run(run) for run in data["base"]),
        tuple(_run(run) for run in data["change"]),
        build(Finding, data["finding"]),
    )


def _ran(run: ScenarioRun) -> dict[str, Any]:
    steps = [{**plain(step), "exchange": _did(step.exchange)} for step in run.steps]
    return {"name": run.name, "steps": steps, "complete": run.complete, "error": run.error}


def _run(data: Mapping[str, Any]) -> ScenarioRun:
    steps = tuple(_step(step) for step in data["steps"])
    return ScenarioRun(data["name"], steps, data["complete"], data["error"])


def _step(data: Mapping[str, Any]) -> StepRun:
    return StepRun(
        data["description"],
        _deed(data["exchange"]),
        build(Expect, data["expect"]),
        tuple(build(Assertion, check) for check in data["assertions"]),
        data["capture"],
    )


def _did(deed: Deed) -> dict[str, Any]:
    answer = deed.answer
    said = {"is": type(answer).__name__, **plain(answer)} if answer is not None else None
    return {"is": type(deed).__name__, **plain(deed), "answer": said}


def _deed(data: Mapping[str, Any]) -> Deed:
    said = data["answer"]
    bare = {name: value for name, value in data.items() if name not in ("is", "answer")}
    answer = build(_ANSWERS[said["is"]], _without_kind(said)) if said is not None else None
    deed: Deed = build(_DEEDS[data["is"]], {**bare, "answer": None})
    return replace(deed, answer=answer)


def _without_kind(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != "is"}
