"""One line of the log, chained to the line before."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from harness_executor.errors import LogDamaged, LogError
from harness_executor.kernel.canonical import Ambiguous, canonical, digest, parse
from harness_executor.kernel.events import Fact
from harness_executor.kernel.frozen import frozen
from harness_executor.store.codec import UnknownFact, decode, encode

SCHEMA = 1
GENESIS = "0" * 64


@frozen
class Record:
    """A fact with its place in the log."""

    seq: int
    epoch: int
    at: str
    fact: Fact
    hash: str
    redacted: int = 0
    """How many secrets were taken out of the fact before it was written."""

    @staticmethod
    def after(last: "Record | None", fact: Fact, *, epoch: int, at: str, redacted: int = 0) -> "Record":
        """The record that follows another."""
        record = Record(last.seq + 1 if last else 1, epoch, at, fact, "", redacted)
        return replace(record, hash=digest(record._body(last.hash if last else GENESIS)))

    def line(self, prev: str) -> bytes:
        """The bytes of the record in the log; what could not be read back is refused."""
        text = canonical({**self._body(prev), "hash": self.hash})
        try:
            parse(text)
        except Ambiguous as error:
            name = type(self.fact).__name__
            raise LogError(
                f"{name} cannot be written down: {error}", hint="ask for less in one task"
            ) from error
        return text.encode() + b"\n"

    def _body(self, prev: str) -> dict[str, Any]:
        name, data = encode(self.fact)
        place = {"schema": SCHEMA, "seq": self.seq, "epoch": self.epoch, "at": self.at, "prev": prev}
        said = {"redacted": self.redacted} if self.redacted else {}
        return {**place, "type": name, "data": data, **said}


@frozen
class Reading:
    """A log as it was read: its records, and what stands after the last whole one."""

    records: tuple[Record, ...]
    good: int
    """Bytes that hold whole records."""
    torn: bytes = b""

    @property
    def last(self) -> Record | None:
        """The newest record."""
        return self.records[-1] if self.records else None


def read(path: Path) -> Reading:
    """Every record of a log; damage before the tail is refused with its place."""
    content = path.read_bytes() if path.exists() else b""
    records: list[Record] = []
    at = 0
    while at < len(content):
        end = content.find(b"\n", at)
        line = content[at:end] if end >= 0 else content[at:]
        if end < 0 or _has_hole(line):
            return _torn(path, content, at, records)
        records.append(_record(path, line, at, records[-1] if records else None))
        at = end + 1
    return Reading(tuple(records), at)


def _has_hole(line: bytes) -> bool:
    # Pages of one write reach the disk in any order; the missing ones read as NULs.
    return not line or line.startswith(b"\0") or b"\0\0" in line


def _torn(path: Path, content: bytes, at: int, records: list[Record]) -> Reading:
    rest = content[at:]
    later = rest.split(b"\n")[1:]
    if any(b'"hash":' in line for line in later):
        raise _damaged(path, at, "unreadable bytes stand before whole records")
    return Reading(tuple(records), at, rest)


def _record(path: Path, line: bytes, at: int, last: Record | None) -> Record:
    try:
        data = parse(line.decode())
        if data["schema"] == SCHEMA:
            return _checked(path, data, at, last)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _damaged(path, at, f"not a record ({error})") from error
    raise LogDamaged(
        f"{path} has records of schema {data['schema']}; this version reads {SCHEMA}",
        hint="install the version that wrote it; the file was left untouched",
    )


def _checked(path: Path, data: dict[str, Any], at: int, last: Record | None) -> Record:
    claimed = data.pop("hash", None)
    if data.get("prev") != (last.hash if last else GENESIS) or digest(data) != claimed:
        raise _damaged(path, at, "the chain of hashes breaks here")
    if data["seq"] != (last.seq + 1 if last else 1):
        raise _damaged(path, at, f"record {data['seq']} is out of order")
    if last and data["epoch"] < last.epoch:
        raise _damaged(path, at, f"epoch {data['epoch']} comes after epoch {last.epoch}")
    try:
        fact = decode(data["type"], data["data"])
    except UnknownFact as error:
        raise _damaged(path, at, str(error)) from error
    return Record(data["seq"], data["epoch"], data["at"], fact, claimed, data.get("redacted", 0))


def _damaged(path: Path, at: int, what: str) -> LogDamaged:
    return LogDamaged(
        f"{path} is damaged at byte {at}: {what}",
        hint="restore the file from a copy, or start the task anew; nothing was changed",
    )
