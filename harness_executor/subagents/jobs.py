"""A job for a subagent, and the messages that pass while it is worked on."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

from harness_executor.kernel.amending import Shortfall
from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.scenario import Scenario
from harness_executor.providers.base import Patience
from harness_executor.sandbox.base import Room
from harness_executor.sandbox.choice import Boxing
from harness_executor.tables import Service


class Role(StrEnum):
    """Who a subagent is."""

    PLANNER = "planner"
    EXECUTOR = "executor"
    VERIFIER = "verifier"
    REVIEWER = "reviewer"


class Answering(StrEnum):
    """Which result a job wants."""

    PLAN = "plan"
    SCENARIOS = "scenarios"
    WORK = "work"
    REVIEW = "review"
    RULINGS = "rulings"
    ADDITIONS = "additions"


@frozen
class Job:
    """Everything a subagent is told."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    id: str
    role: Role
    answering: Answering
    model: str
    prompt: str
    root: str
    scratch: str
    """A folder for its logs, outside the tree."""
    at: str = ""
    """Where commands see the tree; empty for where it lies."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Folders of the project that are shown in the tree, by their place in it."""
    copied: tuple[str, ...] = ()
    """Those of them that may be written to; what is written is thrown away."""
    imports: tuple[str, ...] = ()
    """Folders of the tree that hold what is also installed as a copy."""
    linked: tuple[str, ...] = ()
    """Folders of the project that an editable install leads to."""
    boxing: Boxing = field(default_factory=Boxing)
    """How commands are boxed."""
    may_write: bool = False
    check: str = ""
    """A command that must pass before work may be called a success."""
    sources: tuple[str, ...] = ()
    """Texts a scenario's `why` may quote: the request and the contract."""
    frozen: tuple[Scenario, ...] = ()
    """Scenarios that rulings are about."""
    missed: tuple[Shortfall, ...] = ()
    """Where they failed."""
    self_fix: int = 3
    max_turns: int = 60
    max_tokens: int = 16_000
    """Tokens of one answer."""
    window: int = 128_000
    """Tokens the model can read at once."""
    seconds: float = 1800.0
    """Time it may take, without the time it waits for the service."""
    call_seconds: float | None = None
    """Time one call may take, when it is less than usual."""
    memory: int = 2 << 30
    """Bytes of its own it may have; its commands are not counted."""
    patience: Patience = field(default_factory=Patience)
    service: Service | None = None
    """The service the user named for the model, if it is not a known one."""
    recording: str = ""
    """Where `replay:` finds the calls of an earlier task."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values that may reach no prompt, recording or message."""

    def room(self, outputs: Path) -> Room:
        """What the box of its commands shows."""
        folders = {name: Path(folder) for name, folder in self.beside.items()}
        tree = Path(self.root)
        return Room(
            tree,
            Path(self.at or tree),
            folders,
            copied=frozenset(self.copied),
            outputs=outputs,
            writable=self.may_write,
            imports=self.imports if self.at else (*self.imports, *self.linked),
            linked=self.linked,
        )


@frozen
class Beat:
    """A sign of life that says what is being done."""

    turn: int
    doing: str
    moved: int = 0
    """Grows with everything that gets the job further; one that stays the same is no progress."""


@frozen
class Wants:
    """May this call be made? Nothing is sent before the answer."""

    call: int
    input_tokens: int
    """An upper bound."""
    output_tokens: int
    """An upper bound."""


@frozen
class Spent:
    """How a call that was granted ended, and what it used."""

    call: int
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read: int = 0
    cache_write: int = 0
    is_known: bool = True
    """Did the service say what the call used? If not, all that was reserved is charged."""
    failed: bool = False
    """Did it end without an answer?"""
    request_id: str = ""
    record: str = ""
    """The name of the recording in the scratch folder."""


@frozen
class Stumbled:
    """A call failed in a way that may pass; it is sent again after a wait."""

    call: int
    attempt: int
    status: int
    request_id: str
    why: str
    wait: float
    """Seconds until the next attempt; 0 when there is none."""


@frozen
class Done:
    """The result, already checked against its type."""

    value: Mapping[str, Any]


@frozen
class Failed:
    """The job ended without a result, and why."""

    error: str
    message: str
    hint: str = ""


@frozen
class Granted:
    """The call may be made; said by the coordinator, after it wrote the reservation down."""

    call: int


Message = Beat | Wants | Spent | Stumbled | Done | Failed
"""What a subagent says."""
