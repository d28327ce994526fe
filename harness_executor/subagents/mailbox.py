"""Letters to a subagent: typed, the most pressing first, and none after its time."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen


class LetterKind(StrEnum):
    """What a letter is."""

    CONTEXT = "context"
    ALERT = "alert"
    DECISION_REQUEST = "decision_request"
    DIRECTIVE = "directive"
    PROGRESS = "progress"
    NEEDS_CONTEXT = "needs_context"
    HEARTBEAT = "heartbeat"


class Priority(StrEnum):
    """How pressing a letter is, the most pressing first."""

    CRITICAL = "critical"
    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


_RANK = {priority: rank for rank, priority in enumerate(Priority)}


@frozen
class Letter:
    """One message between the coordinator and a subagent."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    id: str
    content: str
    sender: str = "coordinator"
    to: str = ""
    kind: LetterKind = LetterKind.CONTEXT
    priority: Priority = Priority.NORMAL
    topic: str = ""
    task_id: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    sent: str = ""
    """When it was written, in ISO 8601; of two as pressing the earlier comes first."""
    ttl: float | None = None
    """Seconds after its arrival in which it can be delivered; without it, always."""


@frozen
class _Waiting:
    letter: Letter
    arrived: float
    number: int

    def is_expired(self, now: float) -> bool:
        return self.letter.ttl is not None and now - self.arrived > self.letter.ttl

    @property
    def order(self) -> tuple[int, str, int]:
        return _RANK[self.letter.priority], self.letter.sent, self.number


@dataclass
class Mailbox:
    """Letters that wait for one reader; one thread may put while another takes."""

    delivered: int = 0
    expired: int = 0
    _waiting: list[_Waiting] = field(default_factory=list)
    _arrivals: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, letter: Letter, now: float) -> None:
        """Let a letter wait; `now` is in seconds that never go back."""
        with self._lock:
            self._arrivals += 1
            self._waiting.append(_Waiting(letter, now, self._arrivals))

    def take(self, now: float) -> tuple[Letter, ...]:
        """All that wait and are in time, the most pressing first, then the earliest."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            good = sorted((one for one in waiting if not one.is_expired(now)), key=lambda one: one.order)
            self.delivered += len(good)
            self.expired += len(waiting) - len(good)
        return tuple(one.letter for one in good)
