"""What this user's model calls used, over every task and process: reserved before, settled after."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import reduce
from pathlib import Path

from harness_executor import faults
from harness_executor.errors import BudgetSpent, HarnessError, LogHeld
from harness_executor.kernel.budget import Amount, Budget, Caps, passed
from harness_executor.kernel.canonical import Ambiguous, canonical, parse
from harness_executor.kernel.frozen import frozen
from harness_executor.store.files import disk_error, write_all
from harness_executor.store.lock import Held, held

_PATIENCE = 30.0
"""Seconds to wait for another process that is writing one line."""


@frozen
class Entry:
    """One line: a call that was reserved, or what it came to."""

    id: str
    """The task, the job and the call."""
    night: str
    micros: int | None
    tokens: int
    seconds: float = 0.0
    """How long the call took, once it ended."""
    is_settled: bool = False

    @property
    def amount(self) -> Amount:
        """What it counts for."""
        return Amount(self.micros or 0, self.tokens, 1, self.seconds, int(self.micros is None))


@dataclass
class _Page:
    """The lines of one day, read as far as they go."""

    path: Path
    read: int = 0
    entries: dict[str, Entry] = field(default_factory=dict)
    """The newest line of each call: a settlement takes the place of its reservation."""
    sums: dict[str, Amount] = field(default_factory=dict)
    """What each night used, and under no name what was used outside of any."""

    def catch_up(self) -> None:
        """Read what was added since; a line that cannot be read is refused."""
        try:
            with self.path.open("rb") as stream:
                stream.seek(self.read)
                added = stream.read()
        except FileNotFoundError:
            return
        whole = added[: added.rfind(b"\n") + 1]
        for line in filter(None, whole.split(b"\n")):
            self._count(self._entry(line))
        self.read += len(whole)

    def _count(self, entry: Entry) -> None:
        before = self.entries.get(entry.id)
        if before is not None:
            self.sums[before.night] = self.sums[before.night].minus(before.amount)
        self.sums[entry.night] = self.sums.get(entry.night, Amount()).plus(entry.amount)
        self.entries[entry.id] = entry

    def _entry(self, line: bytes) -> Entry:
        try:
            return Entry(**parse(line.decode()))
        except (Ambiguous, UnicodeDecodeError, TypeError) as error:
            raise HarnessError(
                f"{self.path} has a line that cannot be read: {error}",
                hint="what was spent is not known; correct or move the file",
            ) from error

    def used(self) -> Amount:
        """What the day used."""
        return reduce(Amount.plus, self.sums.values(), Amount())

    def used_by(self, night: str) -> Amount:
        """What one night used of the day."""
        return self.sums.get(night, Amount())


@dataclass
class Ledger:
    """The spending of one user on this machine."""

    folder: Path
    night: str = ""
    """The night this run belongs to, if any."""
    pages: dict[Path, _Page] = field(default_factory=dict)

    def reserve(self, entry: Entry, budget: Budget, now: datetime) -> None:
        """Write a call down before it is made; refuses one that could pass a cap of the night or the day."""
        with self._held():
            today = self._page(now)
            self._refuse("day", passed(budget.day, today.used().plus(entry.amount)))
            if self.night:
                used = today.used_by(self.night).plus(self._page(now - timedelta(days=1)).used_by(self.night))
                self._refuse(f"night {self.night}", passed(budget.night, used.plus(entry.amount)))
            self._write(today, entry, is_durable=budget.day != Caps() or budget.night != Caps())

    def settle(self, entry: Entry, now: datetime) -> None:
        """Write what a call came to; without this its reservation stays charged."""
        with self._held():
            yesterday = self._page(now - timedelta(days=1))
            page = yesterday if entry.id in yesterday.entries else self._page(now)
            self._write(page, entry, is_durable=False)  # one that is lost leaves the reservation charged

    def today(self, now: datetime) -> Amount:
        """What the day has used so far."""
        return self._page(now).used()

    def _refuse(self, span: str, why: str) -> None:
        if why:
            raise BudgetSpent(
                f"the budget of the {span} is {why}",
                hint="raise [budget] in the user's config.toml, then `harness resume`; nothing is lost",
            )

    def _page(self, now: datetime) -> _Page:
        path = self.folder / f"{now:%Y-%m-%d}.jsonl"
        page = self.pages.setdefault(path, _Page(path))
        page.catch_up()
        return page

    @contextmanager
    def _held(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with held(self.folder / ".lock", _PATIENCE):
                yield
        except Held:
            raise LogHeld(
                f"{self.folder} is held by another process for more than {_PATIENCE:g} s",
                hint="see which process holds it, then `harness resume`",
            ) from None

    def _write(self, page: _Page, entry: Entry, *, is_durable: bool) -> None:
        line = canonical(asdict(entry))
        try:
            target = os.open(page.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                self._cut_stub(target, page)
                write_all(target, line.encode() + b"\n")
                if is_durable:
                    os.fdatasync(target)
            finally:
                os.close(target)
        except OSError as error:
            raise disk_error(page.path, error) from error
        faults.point("ledger.written")
        page.catch_up()

    def _cut_stub(self, target: int, page: _Page) -> None:
        """Remove an unfinished line: its call was never granted."""
        if os.fstat(target).st_size > page.read:
            os.ftruncate(target, page.read)
