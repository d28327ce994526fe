"""How long each part of a verification took."""

from harness_executor.clock import Clock
from harness_executor.evidence.differential import Observed
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.report import ServerRecord


@frozen
class Span:
    """How long something took, in seconds from the beginning of the verification."""

    name: str
    began: float
    ended: float
    ready_after: float = 0.0
    """When a server was ready, in seconds after it began."""


class Watch:
    """Notes how long each part of a verification took."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.at = clock.now().isoformat(timespec="milliseconds")
        self.zero = self.last = clock.monotonic()
        self.spans: list[Span] = []

    def note(self, name: str) -> None:
        """Something was done since the last time."""
        began = self.last
        self.skip()
        self.spans.append(Span(name, *map(self._since, (began, self.last))))

    def skip(self) -> None:
        """What was done meanwhile has its own spans."""
        self.last = self.clock.monotonic()

    def see(self, observed: tuple[Observed, ...]) -> None:
        """Every server, and every copy that programs ran in, has a span of its own."""
        for one in (one for one in observed if one.ended):
            what, ready = "programs", 0.0
            if isinstance(one.record, ServerRecord):
                what, ready = "server", round(one.record.ready_in_seconds, 3)
            times = (self._since(one.began), self._since(one.ended))
            self.spans.append(Span(f"{one.place.side.value} {what} {one.place.run}", *times, ready))

    def _since(self, moment: float) -> float:
        return round(moment - self.zero, 3)
