"""A job for a subagent, and the messages it sends while it works."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from harness_executor.kernel.canonical import STRICT


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


@dataclass(frozen=True)
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
    may_write: bool = False
    check: str = ""
    """A command that must pass before work may be called a success."""
    self_fix: int = 3
    max_turns: int = 60
    seconds: float = 1800.0


@dataclass(frozen=True)
class Beat:
    """A sign of life that says what is being done."""

    turn: int
    doing: str


@dataclass(frozen=True)
class Spent:
    """What one model call used."""

    call: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Done:
    """The result, already checked against its type."""

    value: Mapping[str, Any]


@dataclass(frozen=True)
class Failed:
    """The job ended without a result, and why."""

    error: str
    message: str
    hint: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


Message = Beat | Spent | Done | Failed
