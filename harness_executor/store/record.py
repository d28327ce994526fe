"""One line of the log, chained to the line before."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness_executor.errors import LogDamaged
from harness_executor.kernel.canonical import Ambiguous, canonical, digest, parse
from harness_executor.kernel.events import Fact
from harness_executor.store.codec import UnknownFact, decode, encode

SCHEMA = 1
GENESIS = "0" * 64


@dataclass(frozen=True)
class Record:
    """A fact with its place in the log."""

    seq: int
    epoch: int
    at: str
    fact: Fact
    hash: str

    @staticmethod
    def after(last: "Record | None", fact: Fact, *, epoch: int, at: str) -> "Record":
        """The record that follows another."""
        seq = last.seq + 1 if last else 1
        body = _body(seq, epoch, at, fact, last.hash if last else GENESIS)
        return Record(seq, epoch, at, fact, digest(body))

    def line(self, prev: str) -> bytes:
        """The bytes of the record in the log."""
        body = _body(self.seq, self.epoch, self.at, self.fact, prev)
        return canonical({**body, "hash": self.hash}).encode() + b"\n"


@dataclass(frozen=True)
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
        if end < 0 or not line.strip(b"\0"):
            return _torn(path, content, at, records)
        records.append(_record(path, line, at, records[-1] if records else None))
        at = end + 1
    return Reading(tuple(records), at)


def _torn(path: Path, content: bytes, at: int, records: list[Record]) -> Reading:
    rest = content[at:]
    later = rest.split(b"\n")[1:]
    if any(b'"hash":' in line for line in later):
        raise _damaged(path, at, "unreadable bytes stand before whole records")
    return Reading(tuple(records), at, rest)


def _record(path: Path, line: bytes, at: int, last: Record | None) -> Record:
    try:
        data = parse(line.decode())
        schema = data["schema"]
    except (UnicodeDecodeError, Ambiguous, KeyError, TypeError) as error:
        raise _damaged(path, at, f"not a record ({error})") from error
    if schema != SCHEMA:
        raise LogDamaged(
            f"{path} has records of schema {schema}; this version reads {SCHEMA}",
            hint="install the version that wrote it; the file was left untouched",
        )
    return _checked(path, data, at, last)


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
    except (UnknownFact, TypeError, ValueError) as error:
        raise _damaged(path, at, str(error)) from error
    return Record(data["seq"], data["epoch"], data["at"], fact, claimed)


def _body(seq: int, epoch: int, at: str, fact: Fact, prev: str) -> dict[str, Any]:
    name, data = encode(fact)
    return {"schema": SCHEMA, "seq": seq, "epoch": epoch, "at": at, "type": name, "data": data, "prev": prev}


def _damaged(path: Path, at: int, what: str) -> LogDamaged:
    return LogDamaged(
        f"{path} is damaged at byte {at}: {what}",
        hint="restore the file from a copy, or start the task anew; nothing was changed",
    )
