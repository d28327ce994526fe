"""Facts: what has happened to a task, in the past tense."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from harness_executor.kernel.amending import Dispute, Shortfall
from harness_executor.kernel.assurance import Assurance
from harness_executor.kernel.budget import Caps
from harness_executor.kernel.checked import CheckResult
from harness_executor.kernel.control import ControlFile
from harness_executor.kernel.failures import FailureClass
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.lean import LATER
from harness_executor.kernel.offering import Offer
from harness_executor.kernel.report import Evidence, Side
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
    EXTEND = "extend"
    AMEND = "amend"
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


@frozen
class Fact:
    """Something that happened."""


@frozen
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
    start_base: str = ""
    """How the old code is started, when that differs."""


@frozen
class WriterClaimed(Fact):
    """A process took the task over under a new epoch."""

    holder: str


@frozen
class TailCut(Fact):
    """Bytes of an unfinished write were cut from the log and kept aside."""

    offset: int
    kept_as: str


@frozen
class StepStarted(Fact):
    """A step began; written before it acts, so an interrupted one counts."""

    step: StepName
    attempt: int
    phase: int = 0


@frozen
class StepFailed(Fact):
    """A step could not do its work."""

    step: StepName
    failure: FailureClass
    reason: str
    hint: str = ""
    final: bool = False
    """Would another attempt meet the same obstacle?"""


@frozen
class ProjectRead(Fact):
    """The commands of the project are known."""

    start: str
    checks: Mapping[str, str]
    notes: tuple[str, ...] = ()
    idle: bool = False
    """Did the harness find nothing in the base that could be run?"""


@frozen
class LessonsFound(Fact):
    """Lessons of earlier tasks that may bear on this one."""

    lessons: tuple[str, ...]


@frozen
class AgentAsked(Fact):
    """A subagent was given a job; written before it starts."""

    job_id: str
    role: str
    model: str
    assurance: Assurance = Assurance.UNSANDBOXED
    """Did its commands run in a box?"""


@frozen
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


@frozen
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


@frozen
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


@frozen
class Phase:
    """One stretch of the work, committed on its own."""

    name: str
    objective: str
    files: tuple[str, ...] = ()


@frozen
class PlanProposed(Fact):
    """How the change will be made, and the interface it promises."""

    summary: str
    phases: tuple[Phase, ...]
    contract: str


@frozen
class ScenariosFrozen(Fact):
    """Acceptance scenarios, written before any code exists."""

    scenarios: tuple[Scenario, ...]
    digest: str


@frozen
class PlanApproved(Fact):
    """The plan may be carried out."""

    by: str


@frozen
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
    disputes: tuple[Dispute, ...] = ()
    """Expectations the executor says nobody asked for."""
    offers: tuple[Offer, ...] = ()
    """What the tree offers a client and the base does not, as the harness reads it."""


@frozen
class ChangeApproved(Fact):
    """A person looked at what a tree has to be asked for and allows it; another tree needs another look."""

    tree: str
    by: str
    task_id: str
    tests: tuple[str, ...] = field(default=(), metadata=LATER)
    """What the change did to tests and its author chose, in the sentences the person was shown."""
    seal: str = ""
    """Keyed digest of everything above, made where no agent can write."""


@frozen
class PhaseExecuted(Fact):
    """The tree of a phase was committed on the task's branch."""

    phase: int
    tree: str
    commit: str


@frozen
class PhaseCheckpointed(Fact):
    """A coding agent finished a phase by itself."""

    phase: int
    summary: str
    decisions: tuple[str, ...] = ()
    files_changed: tuple[str, ...] = ()
    files_created: tuple[str, ...] = ()


@frozen
class Validated(Fact):
    """Build, lint and tests were run on base and change."""

    tree: str
    results: tuple[CheckResult, ...]


@frozen
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


@frozen
class Verified(Fact):
    """A verification ended; this is what it observed."""

    evidence: Evidence
    failed: tuple[str, ...] = ()
    """What the executor has to mend, each with request, expected and got."""
    missing: tuple[Shortfall, ...] = ()
    """Where scenarios failed on the change as they did on base."""


@frozen
class FindingsReported(Fact):
    """A review or audit ended, and changed nothing."""

    summary: str
    findings: tuple[Mapping[str, str], ...]


@frozen
class GateJudged(Fact):
    """The gate answered."""

    accepted: bool
    reasons: tuple[str, ...]
    unverified: bool = False
    """Does nothing speak against the change, while there was nothing to run?"""


@frozen
class Presented(Fact):
    """The result was put into words for a person."""

    path: str


@frozen
class TaskPaused(Fact):
    """The task waits for a person."""

    reason: str
    cause: Cause = Cause.HUMAN
    hint: str = ""


@frozen
class TaskResumed(Fact):
    """A person sent the task on, perhaps with higher caps."""

    by: str
    caps: Caps = field(default_factory=Caps)


@frozen
class TaskClosed(Fact):
    """The task is over."""

    status: Status
    summary: str
    files_changed: tuple[str, ...] = ()
    files_created: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    validation: Mapping[str, str] = field(default_factory=dict)
