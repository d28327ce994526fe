"""A breaker: a service that failed many times in a row is left alone for a while."""

from datetime import datetime, timedelta

from harness_executor.kernel.frozen import frozen

FAILURES = 20
"""Failed attempts in a row, of any task, that open the breaker; more than one call makes."""
COOLING = timedelta(minutes=2)
"""How long it stays open; then one more failure opens it again."""


@frozen
class Breaker:
    """What is known of a service across tasks."""

    failures: int = 0
    opened: datetime | None = None

    def failed(self, now: datetime) -> "Breaker":
        """After one more failed attempt."""
        failures = self.failures + 1
        return Breaker(failures, now if failures >= FAILURES else None)

    def open_until(self, now: datetime) -> datetime | None:
        """Until when nothing is sent, if it is open now; a clock that went back closes it."""
        if self.opened is None or not timedelta() <= now - self.opened < COOLING:
            return None
        return self.opened + COOLING
