"""Facts: what has happened to a task, in the past tense."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness_executor.kernel.budget import Caps
from harness_executor.kernel.control import ControlFile
from harness_executor.kernel.failures import FailureClass
from harness_executor.kernel.report import Assurance, Evidence, Side
from harness_executor.kernel.scenario import Scenario


class Mode(StrEnum):
    """What a task may do: only `implement` changes anything."""

    IMPLEMENT = "implement"
    PLAN = "plan"
    REVIEW = "review"
    AUDIT = "audit"


class Driver(StrEnum):
    """Who takes the steps of a task."""

    RUNNER = "runner"
    SKILL = "skill"


class StepName(StrEnum):
    """The steps of a task."""

    SETUP = "setup"
    PLAN = "plan"
    EXECUTE = "execute"
    VALIDATE = "validate"
    VERIFY = "verify"
    REVIEW = "review"
    RECORD = "record"
    PRESENT = "present"


class Cause(StrEnum):
    """Why a task is parked."""

    HUMAN = "human"
    """A person has to decide or provide something."""
    AUTH = "auth"
    """The service does not accept the key."""
    PROVIDER_QUOTA = "provider_quota"
    """The account's money or quota is gone."""
    PROVIDER_DOWN = "provider_down"
    """The service did not come back within the tries."""
    BUDGET = "budget"
    """A cap of the user's is reached."""


class Status(StrEnum):
    """How a task stands."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    COMPLETED_UNVERIFIED = "completed_unverified"
    REFUSED = "refused"
    FAILED = "failed"
    BLOCKED = "blocked"


@dataclass(frozen=True)
class Fact:
    """Something that happened."""


@dataclass(frozen=True)
class TaskOpened(Fact):
    """A request became a task on a base commit."""

    task_id: str
    request: str
    mode: Mode
    driver: Driver
    base_commit: str
    base_tree: str
    name: str = ""
    phases: int = 1
    plan_path: str = ""
    start: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    refactor: bool = False
    caps: Caps = field(default_factory=Caps)
    """What the whole task may use."""


@dataclass(frozen=True)
class WriterClaimed(Fact):
    """A process took the task over under a new epoch."""

    holder: str


@dataclass(frozen=True)
class TailCut(Fact):
    """Bytes of an unfinished write were cut from the log and kept aside."""

    offset: int
    kept_as: str


@dataclass(frozen=True)
class StepStarted(Fact):
    """A step began; written before it acts, so an interrupted one counts."""

    step: StepName
    attempt: int
    phase: int = 0


@dataclass(frozen=True)
class StepFailed(Fact):
    """A step could not do its work."""

    step: StepName
    failure: FailureClass
    reason: str
    hint: str = ""
    final: bool = False
    """Would another attempt meet the same obstacle?"""


@dataclass(frozen=True)
class ProjectRead(Fact):
    """The commands of the project are known."""

    start: str
    checks: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class LessonsFound(Fact):
    """Lessons of earlier tasks that may bear on this one."""

    lessons: tuple[str, ...]


@dataclass(frozen=True)
class AgentAsked(Fact):
    """A subagent was given a job; written before it starts."""

    job_id: str
    role: str
    model: str
    assurance: Assurance = Assurance.UNSANDBOXED
    """Did its commands run in a box?"""


@dataclass(frozen=True)
class CallReserved(Fact):
    """A model call may be made; written before it is sent, and never taken back by a crash."""

    job_id: str
    call: int
    model: str
    input_tokens: int
    """An upper bound."""
    output_tokens: int
    """An upper bound."""
    micros: int | None = None
    """The most it can cost, in millionths of a dollar; nothing when the price is unknown."""
    elapsed: float = 0.0
    """Seconds since this process took the task."""


@dataclass(frozen=True)
class CallCharged(Fact):
    """One model call and what it used; it takes the place of its reservation."""

    job_id: str
    call: int
    model: str
    input_tokens: int
    output_tokens: int
    micros: int | None = None
    """What it cost, in millionths of a dollar; nothing when the price is unknown."""
    cache_read: int = 0
    cache_write: int = 0
    failed: bool = False
    """Did the call end without an answer?"""
    request_id: str = ""
    record: str = ""
    """The recording of the call, beside the log."""


@dataclass(frozen=True)
class CallStumbled(Fact):
    """A model call failed in a way that may pass."""

    job_id: str
    call: int
    attempt: int
    model: str
    status: int
    request_id: str
    why: str
    wait: float
    """Seconds until it is sent again; 0 when it is not."""
    at: str
    """When it failed, so that a restart waits for the rest only."""


@dataclass(frozen=True)
class Phase:
    """One stretch of the work, committed on its own."""

    name: str
    objective: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlanProposed(Fact):
    """How the change will be made, and the interface it promises."""

    summary: str
    phases: tuple[Phase, ...]
    contract: str


@dataclass(frozen=True)
class ScenariosFrozen(Fact):
    """Acceptance scenarios, written before any code exists."""

    scenarios: tuple[Scenario, ...]
    digest: str


@dataclass(frozen=True)
class PlanApproved(Fact):
    """The plan may be carried out."""

    by: str


@dataclass(frozen=True)
class ChangeMade(Fact):
    """The executor answered; the harness wrote its tree and its diff."""

    phase: int
    attempt: int
    tree: str
    at: str
    """When it was made; the commit carries this time, so making it again makes the same commit."""
    summary: str
    files_changed: tuple[str, ...]
    files_created: tuple[str, ...]
    lessons: tuple[str, ...] = ()
    claimed: tuple[str, ...] = ()
    """Files the executor said it touched."""
    own_reports: tuple[str, ...] = ()
    """Reports and state the executor wrote itself; they are ignored."""
    control: tuple[ControlFile, ...] = ()
    """Control files that differ between base and tree."""


@dataclass(frozen=True)
class ChangeApproved(Fact):
    """A person looked at the control files of a tree and allows them; another tree needs another look."""

    tree: str
    by: str
    task_id: str
    seal: str = ""
    """Keyed digest of everything above, made where no agent can write."""


@dataclass(frozen=True)
class PhaseExecuted(Fact):
    """The tree of a phase was committed on the task's branch."""

    phase: int
    tree: str
    commit: str


@dataclass(frozen=True)
class PhaseCheckpointed(Fact):
    """A coding agent finished a phase by itself."""

    phase: int
    summary: str
    decisions: tuple[str, ...] = ()
    files_changed: tuple[str, ...] = ()
    files_created: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckResult:
    """One project check on base and change."""

    name: str
    command: str
    base_passed: bool
    change_passed: bool
    output: str = ""

    @property
    def blocks(self) -> bool:
        """Newly red; what was already red does not block."""
        return self.base_passed and not self.change_passed


@dataclass(frozen=True)
class Validated(Fact):
    """Build, lint and tests were run on base and change."""

    tree: str
    results: tuple[CheckResult, ...]


@dataclass(frozen=True)
class SideRecorded(Fact):
    """One server ran every scenario; its exchanges were written down."""

    run_id: str
    side: Side
    run: int
    exchanges: int
    digest: str
    """Of the exchanges as they are written, without secrets."""
    ready_in_seconds: float
    redacted: int = 0
    """How many secrets were taken out of the exchanges and the server's output."""


@dataclass(frozen=True)
class Verified(Fact):
    """A verification ended; this is what it observed."""

    evidence: Evidence
    failed: tuple[str, ...] = ()
    """What the executor has to mend, each with request, expected and got."""


@dataclass(frozen=True)
class FindingsReported(Fact):
    """A review or audit ended, and changed nothing."""

    summary: str
    findings: tuple[Mapping[str, str], ...]


@dataclass(frozen=True)
class GateJudged(Fact):
    """The gate answered."""

    accepted: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Presented(Fact):
    """The result was put into words for a person."""

    path: str


@dataclass(frozen=True)
class TaskPaused(Fact):
    """The task waits for a person."""

    reason: str
    cause: Cause = Cause.HUMAN
    hint: str = ""


@dataclass(frozen=True)
class TaskResumed(Fact):
    """A person sent the task on, perhaps with higher caps."""

    by: str
    caps: Caps = field(default_factory=Caps)


@dataclass(frozen=True)
class TaskClosed(Fact):
    """The task is over."""

    status: Status
    summary: str
    files_changed: tuple[str, ...] = ()
    files_created: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    validation: Mapping[str, str] = field(default_factory=dict)
