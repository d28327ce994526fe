"""A provider that answers from a recording: a whole run again, without a model."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness_executor.errors import ModelUnknown, RequestRefused, ShapeError
from harness_executor.kernel.canonical import Ambiguous, digest, parse
from harness_executor.kernel.frozen import frozen
from harness_executor.providers.base import Reply, Request
from harness_executor.providers.recorded import Record, Tidy, follow, opening_key
from harness_executor.redaction import Redactor
from harness_executor.shapes import read

_NAME = re.compile(r"[0-9a-f]{64}\.json")


@frozen
class Replayed:
    """Replies by the key of the conversation they answered."""

    replies: Mapping[str, Mapping[str, Any]]
    tidy: Tidy

    def complete(self, request: Request) -> Reply:
        """The reply that was recorded where the conversation stands."""
        turns = self.tidy.turns(request.turns)
        found = self.replies.get(follow(opening_key(request.role, turns), turns))
        if found is None:
            number = sum("reply" in turn for turn in turns) + 1
            raise RequestRefused(
                f"the recording has no reply {number} of this conversation of the {request.role}",
                hint="the run went another way than when it was recorded; choose a model instead",
            )
        return read(Reply, self.tidy.back(found))


def load(folder: Path, root: str = "", redactor: Redactor | None = None) -> Replayed:
    """The recording in a folder; where two calls have the same key, the later one counts."""
    records = sorted(_records(folder), key=lambda record: record.at)
    if not records:
        raise ModelUnknown(f"there is no recording in {folder}", hint="name a task that called a model")
    replies = {record.key: record.reply for record in records}
    return Replayed(replies, Tidy(redactor or Redactor(), root))


def _records(folder: Path) -> Iterator[Record]:
    for path in sorted(folder.glob("[!.]*")):
        try:
            yield _read(path)
        except (OSError, UnicodeDecodeError, Ambiguous, ShapeError) as error:
            raise ModelUnknown(
                f"{path} is not a recorded call: {error}", hint="remove it, or name another task"
            ) from error


def _read(path: Path) -> Record:
    if not _NAME.fullmatch(path.name):
        raise Ambiguous("no call has such a name")
    data = parse(path.read_text(encoding="utf-8"))
    if digest(data) != path.stem:
        raise Ambiguous("it was changed")
    record = read(Record, data)
    read(Reply, record.reply)
    return record
