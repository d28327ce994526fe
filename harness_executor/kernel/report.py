"""What one verification observed: exchanges, scenarios on both sides, and what they mean together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness_executor.kernel.control import ControlFile
from harness_executor.kernel.expect import Answer, Assertion
from harness_executor.kernel.scenario import Expect, Kind, Scenario


class Side(StrEnum):
    """Which code a server runs."""

    BASE = "base"
    CHANGE = "change"


class Meaning(StrEnum):
    """What a scenario says about the change."""

    PROVES = "proves"
    HOLDS = "holds"
    REGRESSES = "regresses"
    MISSING = "missing"
    NOISY = "noisy"


class Assurance(StrEnum):
    """How far the evidence was out of the model's reach."""

    SANDBOXED = "sandboxed"
    UNSANDBOXED = "unsandboxed"


@dataclass(frozen=True)
class Exchange:
    """One request the harness sent, and the answer or the reason there was none."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: str | None
    answer: Answer | None
    error: str = ""


@dataclass(frozen=True)
class StepRun:
    """One step of a scenario as it was carried out."""

    description: str
    exchange: Exchange
    expect: Expect
    """The expectation with its values filled in."""
    assertions: tuple[Assertion, ...]
    capture: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """An answer came and every comparison fits; nothing compared is nothing passed."""
        return (
            self.exchange.answer is not None
            and bool(self.assertions)
            and all(assertion.passed for assertion in self.assertions)
        )


@dataclass(frozen=True)
class ScenarioRun:
    """One scenario on one server."""

    name: str
    steps: tuple[StepRun, ...]
    complete: bool
    """Was every step of the scenario carried out?"""
    error: str = ""

    @property
    def passed(self) -> bool:
        """Every step was carried out and passed."""
        return self.complete and bool(self.steps) and all(step.passed for step in self.steps)


@dataclass(frozen=True)
class ServerRecord:
    """One server the harness started, and how it ended."""

    side: Side
    run: int
    started: bool
    owns_port: bool
    ready_in_seconds: float
    stopped: bool
    port_free: bool
    detail: str = ""


@dataclass(frozen=True)
class Finding:
    """One scenario on base and change, and what that means."""

    name: str
    kind: Kind
    source: str
    meaning: Meaning
    reason: str = ""
    survived: tuple[str, ...] = ()
    """Classes of broken answers this scenario would not notice."""
    mutants: int = 0
    killed: int = 0


@dataclass(frozen=True)
class Evidence:
    """What the harness recorded in one verification, bound to what it was recorded for."""

    run_id: str
    task_id: str
    base_commit: str
    tree: str
    tree_after: str
    scenario_digest: str
    exchange_digest: str
    assurance: Assurance
    servers: tuple[ServerRecord, ...]
    findings: tuple[Finding, ...]
    base_tree: str = ""
    control: tuple[ControlFile, ...] = ()
    """Control files that differ between base and tree."""
    seal: str = ""
    """Keyed digest of everything above, made where no agent can write."""

    def of(self, meaning: Meaning) -> tuple[Finding, ...]:
        """The findings with this meaning."""
        return tuple(finding for finding in self.findings if finding.meaning is meaning)


def meaning_of(base: tuple[bool, ...], change: tuple[bool, ...]) -> Meaning:
    """What repeated runs on both sides mean together."""
    if len(set(base)) != 1 or len(set(change)) != 1:
        return Meaning.NOISY
    match base[0], change[0]:
        case False, True:
            return Meaning.PROVES
        case True, True:
            return Meaning.HOLDS
        case True, False:
            return Meaning.REGRESSES
        case _:
            return Meaning.MISSING


def explain(run: ScenarioRun) -> str:
    """The first thing that went wrong: which request, expected, got."""
    for step in run.steps:
        asked = f"{step.exchange.method} {_path(step.exchange.url)}"
        if step.exchange.answer is None:
            return f"{asked}: {step.exchange.error}"
        for assertion in step.assertions:
            if not assertion.passed:
                return f"{asked}: {assertion.type}: expected {assertion.expected!r}, got {assertion.actual!r}"
    return run.error


def _path(url: str) -> str:
    return "/" + url.split("/", 3)[-1] if url.count("/") >= 3 else url


@dataclass(frozen=True)
class Observation:
    """All runs of one scenario on both sides, and what they mean."""

    scenario: Scenario
    base: tuple[ScenarioRun, ...]
    change: tuple[ScenarioRun, ...]
    finding: Finding
