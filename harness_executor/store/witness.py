"""What this machine has seen of a log, kept elsewhere, so that a cut tail is noticed."""

import os
from pathlib import Path

from harness_executor.errors import LogDamaged
from harness_executor.kernel.canonical import Ambiguous, canonical, parse
from harness_executor.kernel.frozen import frozen
from harness_executor.store.files import disk_error
from harness_executor.store.record import Reading, Record, read

_WIDTH = 120
"""Characters of the file, however large the number of the record."""


@frozen
class Witness:
    """The newest record seen, in a file outside the project."""

    path: Path

    def saw(self, record: Record) -> None:
        """Remember the newest record, after it became durable."""
        line = canonical({"seq": record.seq, "hash": record.hash}).ljust(_WIDTH)
        try:
            target = self._open()
            try:
                os.pwrite(target, line.encode(), 0)  # one write of one width: never half of each
            finally:
                os.close(target)
        except OSError as error:
            raise disk_error(self.path, error) from error

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            return os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            return os.open(self.path, flags, 0o600)

    def has_seen(self) -> bool:
        """Did this machine write to the log before?"""
        return self._seen() is not None

    def read(self, log: Path) -> Reading:
        """A log as it stands; one that has lost or replaced a record this machine has seen is refused."""
        seen = self._seen()  # before the log: a writer may be adding to both
        reading = read(log)
        if seen is not None:
            _check(reading, log, *seen)
        return reading

    def _seen(self) -> tuple[int, str] | None:
        try:
            data = parse(self.path.read_text())
            return int(data["seq"]), str(data["hash"])
        except (FileNotFoundError, Ambiguous, KeyError, TypeError, ValueError):
            return None


def _check(reading: Reading, log: Path, seq: int, known: str) -> None:
    there = reading.records[seq - 1].hash if 0 < seq <= len(reading.records) else None
    if there != known:
        what = f"it had {seq} records" if there is None else f"record {seq} is another one"
        raise LogDamaged(
            f"{log} is not the log this machine wrote: {what}, {len(reading.records)} are there",
            hint="restore the file from a copy, or start the task anew; nothing was changed",
        )
