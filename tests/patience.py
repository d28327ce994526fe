"""Time as a test may count it on a machine that is busy with others."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness_executor.clock import SystemClock


@dataclass
class Patience:
    """A span of time, without the time in which the machine did not let us look at the clock."""

    began: float = field(default_factory=time.monotonic)
    lost: float = 0.0

    def nap(self) -> None:
        """Wait a little; what it takes longer than asked for is the machine's."""
        before = time.monotonic()
        time.sleep(0.02)
        self.lost += max(0.0, time.monotonic() - before - 0.03)

    @property
    def passed(self) -> float:
        """Seconds that count."""
        return time.monotonic() - self.began - self.lost


def until(happened: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Did it happen within this time?"""
    patience = Patience()
    while patience.passed < seconds:
        if happened():
            return True
        patience.nap()
    return happened()


@dataclass
class LateClock(SystemClock):
    """A clock that stands still until a program has said its first word, however late that is."""

    log: Path
    """Where the program's words go."""
    began: float = field(default_factory=time.monotonic)
    lost: float | None = None

    def monotonic(self) -> float:
        """Seconds since the program is up; one that says nothing for a minute is waited for no more."""
        now = time.monotonic()
        if self.lost is None:
            is_up = self.log.exists() and self.log.stat().st_size > 0
            if not is_up and now - self.began < 60:
                return self.began
            self.lost = now - self.began
        return now - self.lost
