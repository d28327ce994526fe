"""How long a check of the change may take, by what base took for it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness_executor.clock import Clock, SystemClock
from harness_executor.kernel.frozen import frozen

_TIMES = 5.0
"""How much longer the change may take than base did."""
_LOUD = 3.0
"""How much longer still while something is printed."""


@frozen
class Pace:
    """What base took for each check that came to its end there."""

    least: float = 60.0
    """Seconds that every check has."""
    margin: float = 30.0
    silent: float = 20.0
    """Seconds without a word after which a late check counts as hanging."""
    clock: Clock = field(default_factory=SystemClock)
    took: dict[str, float] = field(default_factory=dict)

    def limit(self, name: str) -> float | None:
        """Seconds that the change has for a check; nothing while that of base has not ended."""
        took = self.took.get(name)
        return None if took is None else max(self.least, _TIMES * took + self.margin)

    def patience(self, name: str, log: Path) -> "Patience":
        """A watch over a check of the change that begins now."""
        now = self.clock.monotonic()
        return Patience(self.clock, log, lambda: self.limit(name), self.silent, now, now)


@dataclass
class Patience:
    """One check of the change that is waited for."""

    clock: Clock
    log: Path
    limit: Callable[[], float | None]
    silent: float
    began: float
    heard: float
    """When its output last grew."""
    size: int = 0

    def seconds(self) -> float:
        """How long it has been running."""
        return self.clock.monotonic() - self.began

    def is_over(self) -> bool:
        """Does it hang? It is late and has nothing to say, or is far too late."""
        now, size = self.clock.monotonic(), _size(self.log)
        if size != self.size:
            self.size, self.heard = size, now
        limit = self.limit()
        if limit is None or now - self.began <= limit:
            return False
        return now - self.heard > self.silent or now - self.began > _LOUD * limit


def _size(log: Path) -> int:
    try:
        return log.stat().st_size
    except OSError:
        return 0
