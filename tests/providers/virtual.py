"""A clock whose waits take no time."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


@dataclass
class VirtualClock:
    """Time that passes only by sleeping."""

    passed: float = 0.0
    waits: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        """Wall time, for labels."""
        return datetime(2026, 3, 9, 12, tzinfo=UTC) + timedelta(seconds=self.passed)

    def monotonic(self) -> float:
        """Seconds that never go back, for decisions."""
        return self.passed

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        if seconds < 0:
            raise ValueError(f"a wait of {seconds} s")
        self.waits.append(seconds)
        self.passed += seconds
