"""Is a subagent alive, and does it get anywhere?"""

from dataclasses import replace
from enum import StrEnum

from harness_executor.kernel.frozen import frozen


class Fate(StrEnum):
    """What became of a subagent that was not heard of as it should be."""

    TIMED_OUT = "timed out"
    SILENT = "silent"
    STALE = "stale"


@frozen
class Limits:
    """How long a subagent may take, in seconds."""

    whole: float
    """For the job, without the time it waits for its model's service."""
    silence: float = 60.0
    """Without a sign of life."""
    stale: float = 900.0
    """With signs of life that show no progress; longer than any single command may take."""


@frozen
class Life:
    """What was heard of a subagent, and when."""

    deadline: float
    heard: float
    moved: int
    moved_at: float

    @staticmethod
    def begun(limits: Limits, now: float) -> "Life":
        """The life of one that has just been started."""
        return Life(now + limits.whole, now, -1, now)

    def after(self, now: float, moved: int | None = None) -> "Life":
        """Something was heard; with a count, only one that grew is progress."""
        if moved is None:
            return replace(self, heard=now, moved_at=now)
        return replace(
            self,
            heard=now,
            moved=max(moved, self.moved),
            moved_at=now if moved > self.moved else self.moved_at,
        )

    def excused(self, seconds: float) -> "Life":
        """It has to wait this long for its model's service."""
        return replace(self, deadline=self.deadline + seconds, moved_at=self.moved_at + seconds)


def fate(life: Life, limits: Limits, now: float) -> Fate | None:
    """What became of it, if anything did."""
    if now >= life.deadline:
        return Fate.TIMED_OUT
    if now - life.heard >= limits.silence:
        return Fate.SILENT
    if now - life.moved_at >= limits.stale:
        return Fate.STALE
    return None


def look_again(life: Life, limits: Limits, now: float) -> float:
    """Seconds after which its fate can have changed."""
    ends = (life.deadline, life.heard + limits.silence, life.moved_at + limits.stale)
    return max(0.0, min(ends) - now)
