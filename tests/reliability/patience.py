"""Time as a test may count it on a machine that is busy with others."""

import time
from dataclasses import dataclass, field


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
