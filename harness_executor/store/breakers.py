"""The breakers of the model services this user works with, shared by every task."""

from datetime import datetime
from pathlib import Path

from harness_executor.kernel.breaker import Breaker
from harness_executor.kernel.canonical import Ambiguous, canonical, digest, parse
from harness_executor.kernel.frozen import frozen
from harness_executor.store.files import write_atomically


@frozen
class Breakers:
    """One small file for each service; losing one only means that it is tried again."""

    folder: Path

    def read(self, service: str) -> Breaker:
        """What is known of a service."""
        try:
            data = parse(self._path(service).read_text(encoding="utf-8"))
            opened = data["opened"]
            return Breaker(int(data["failures"]), datetime.fromisoformat(opened) if opened else None)
        except (OSError, Ambiguous, KeyError, TypeError, ValueError):
            return Breaker()

    def failed(self, service: str, now: datetime) -> None:
        """Count one failed attempt."""
        breaker = self.read(service).failed(now)
        opened = breaker.opened.isoformat() if breaker.opened else ""
        write_atomically(self._path(service), canonical({"failures": breaker.failures, "opened": opened}))

    def worked(self, service: str) -> None:
        """Forget what failed: the service answered, or a person says that it will."""
        self._path(service).unlink(missing_ok=True)

    def _path(self, service: str) -> Path:
        return self.folder / f"{digest(service)[:16]}.json"
