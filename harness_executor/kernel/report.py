"""What one verification observed: exchanges, scenarios on both sides, and what they mean together."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.control import ControlFile
from harness_executor.kernel.expect import Answer, Assertion
from harness_executor.kernel.expectation import Expect
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.lean import LATER
from harness_executor.kernel.scenario import Kind, Scenario

PREDEFINED = "predefined"
"""The source of scenarios that the project keeps."""
SCHEMATHESIS = "schemathesis"
"""The source of what drawn requests showed."""
_LONGEST = 500
"""Letters of a value that a reason shows."""
OWN = ("harness", SCHEMATHESIS)
"""The sources of what nobody asked for: it can refuse a change, and never prove one."""


class Side(StrEnum):
    """Which code a server runs."""

    BASE = "base"
    CHANGE = "change"


class Origin(StrEnum):
    """Who said how the servers of a side are started."""

    PROJECT = "project"
    """The project, as base has it."""
    OPTION = "option"
    """Whoever had it verified, with `--start` or `--start-base`."""
    FILE = "file"
    """Whoever had it verified, with `--environment`."""


@frozen
class Launch:
    """How the servers of one side were started."""

    side: Side
    command: str
    """Empty where programs alone are run."""
    origin: Origin

    def __str__(self) -> str:
        return f"{self.side.value} started with `{self.command}`, {_SAID[self.origin]}"


_SAID = {
    Origin.PROJECT: "as the project says",
    Origin.OPTION: "as an option says",
    Origin.FILE: "as the file of --environment says",
}


class Meaning(StrEnum):
    """What a scenario says about the change."""

    PROVES = "proves"
    HOLDS = "holds"
    REGRESSES = "regresses"
    MISSING = "missing"
    NOISY = "noisy"


@frozen
class Exchange:
    """One request the harness sent, and the answer or the reason there was none."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: str | None
    answer: Answer | None
    error: str = ""
    hops: tuple["Exchange", ...] = ()
    """The redirects that led here, first to last."""
    at: str = ""
    """When it was sent."""

    @property
    def asked(self) -> str:
        """What was asked, in short."""
        path = "/" + self.url.split("/", 3)[-1] if self.url.count("/") >= 3 else self.url
        return f"{self.method} {path}"


@frozen
class Execution:
    """One command the harness ran, and how it ended or why it did not."""

    argv: tuple[str, ...]
    stdin: str
    env: Mapping[str, str]
    files: Mapping[str, str]
    answer: Answer | None
    error: str = ""
    title: str = ""
    """What to call it, where argv says too much."""

    @property
    def asked(self) -> str:
        """What was run, in short."""
        return self.title or f"`{' '.join(self.argv)}`"


Deed = Exchange | Execution
"""What the harness did for a step, with the answer."""


@frozen
class StepRun:
    """One step of a scenario as it was carried out."""

    description: str
    exchange: Deed
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


@frozen
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

    @property
    def lacks_capture(self) -> bool:
        """Did it end after steps that passed, the last of which was to give a value for later ones?"""
        ended = bool(self.error and self.steps and self.steps[-1].capture)
        return ended and all(step.passed for step in self.steps)


@frozen
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


@frozen
class YardRecord:
    """One copy of the code in which the harness ran programs, and whether its box is gone."""

    side: Side
    run: int
    ran: int
    """Programs that were run to their end."""
    gone: bool
    detail: str = ""


@frozen
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
    overlooked: tuple[str, ...] = field(default=(), metadata=LATER)
    """Further classes it would not notice, which no scenario has to."""
    held_out: bool = field(default=False, metadata=LATER)
    """Was the second run asked with other values than the first?"""
    worked_before: bool = field(default=False, metadata=LATER)
    """Did a program of it end well on base, whatever failed after it?"""
    allowed: str = field(default="", metadata=LATER)
    """The words with which a person allowed that the change keeps it no more."""

    @property
    def is_unrelated(self) -> bool:
        """Does a scenario that the project keeps fail on both sides? That says nothing of the change."""
        return self.source == PREDEFINED and self.meaning is Meaning.MISSING

    @property
    def is_against(self) -> bool:
        """Does it show that the change does not do what it should?"""
        is_bad = self.meaning in (Meaning.REGRESSES, Meaning.MISSING)
        return is_bad and not self.is_unrelated and not self.allowed


@frozen
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
    control: tuple[ControlFile, ...] = field(default=(), metadata=LATER)
    """Control files that differ between base and tree."""
    checks: tuple[CheckResult, ...] = field(default=(), metadata=LATER)
    """Build, lint and tests on base and change, without what they printed."""
    unchecked: tuple[str, ...] = field(default=(), metadata=LATER)
    """Checks of the project that were not run."""
    yards: tuple[YardRecord, ...] = field(default=(), metadata=LATER)
    """Where programs were run, when no scenario needs a server."""
    launches: tuple[Launch, ...] = field(default=(), metadata=LATER)
    """How each side was started; nothing in older evidence."""
    kept: Mapping[str, str] = field(default_factory=dict, metadata=LATER)
    """The files this verification left, each with the SHA-256 of its bytes."""
    seal: str = ""
    """Keyed digest of everything above, made where no agent can write."""

    def of(self, meaning: Meaning) -> tuple[Finding, ...]:
        """The findings with this meaning."""
        return tuple(finding for finding in self.findings if finding.meaning is meaning)

    @property
    def started(self) -> tuple[Launch, ...]:
        """How servers were started, where there were any."""
        return tuple(launch for launch in self.launches if launch.command)


def explain(run: ScenarioRun) -> str:
    """The first thing that went wrong: which request, expected, got."""
    for step in run.steps:
        asked = step.exchange.asked
        if step.exchange.answer is None:
            return f"{asked}: {step.exchange.error}"
        for assertion in step.assertions:
            if not assertion.passed:
                expected, actual = _shown(assertion.expected), _shown(assertion.actual)
                return f"{asked}: {assertion.type}: expected {expected}, got {actual}"
    return run.error


def _shown(value: object) -> str:
    """A value as it is compared, or the beginning of one that is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


@frozen
class Observation:
    """All runs of one scenario on both sides, and what they mean."""

    scenario: Scenario
    base: tuple[ScenarioRun, ...]
    change: tuple[ScenarioRun, ...]
    finding: Finding
