"""Time and ids: the only place that asks for either."""

import re
import secrets
import time
import uuid
from datetime import UTC, datetime
from typing import Protocol

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


class Clock(Protocol):
    """Where time comes from; monotonic time decides, wall time is a label."""

    def now(self) -> datetime:
        """Wall time, for labels."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for decisions."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """Wall time, for labels."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never go back, for decisions."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


def slug(text: str, limit: int = 40) -> str:
    """A readable name that is safe in a path and in a branch name."""
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return words[:limit].rstrip("-") or "task"


def new_task_id(request: str, now: datetime) -> str:
    """A readable, collision-free id."""
    suffix = "".join(secrets.choice(_ALPHABET) for _ in range(6))
    return f"{slug(request)}-{now:%Y%m%d}-{suffix}"


def new_id() -> str:
    """An id nobody else has."""
    return uuid.uuid4().hex


def draw_number(below: int) -> int:
    """A number nobody can guess, from 0 up to but not including a limit."""
    return secrets.randbelow(below)


def secret_bytes(length: int = 32) -> bytes:
    """Bytes nobody can guess."""
    return secrets.token_bytes(length)
