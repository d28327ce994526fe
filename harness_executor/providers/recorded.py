"""A provider whose every call is written down, without secrets, so that a run can be played again."""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar, Literal

from harness_executor.clock import Clock, SystemClock
from harness_executor.errors import DiskError
from harness_executor.kernel.canonical import canonical, digest
from harness_executor.kernel.frozen import frozen
from harness_executor.providers.base import Provider, Reply, Request, Said
from harness_executor.redaction import Redactor

ROOT = "[root of the tree]"
"""What stands in a record for the folder the run worked in."""

_DIGITS = re.compile("[0-9]+")
_LESSONS = re.compile(r"^# Lessons of earlier tasks[^\n]*\n(?:>[^\n]*\n|\n)*+", re.MULTILINE)


@frozen
class Record:
    """One call: what was new in the request, and the answer."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    prev: str
    """The name of the record of the request before this one, or nothing."""
    at: str
    role: str
    model: str
    guide: str
    """The digest of the system text, the tools and the schema."""
    turns: tuple[Mapping[str, Any], ...]
    """What the conversation has beyond the turns of the record before: `said` or `reply` each."""
    reply: Mapping[str, Any]
    key: str
    """By which the reply is found again."""
    redacted: int
    """How many secrets were taken out."""
    since: int = 0
    """How many turns of the record before this one are still there; without them all turns are here."""
    text: Mapping[str, Any] | None = None
    """The system text, the tools and the schema, where they are new."""
    schema: Literal["harness-call/1"] = "harness-call/1"


@frozen
class Tidy:
    """Makes of turns the data that records hold."""

    redactor: Redactor
    root: str = ""

    def plain(self, value: Any) -> Any:
        """JSON data without secrets, without the tree's place and without what JSON has no word for."""
        text = json.dumps(value, ensure_ascii=False)
        if self.root:
            text = text.replace(json.dumps(self.root, ensure_ascii=False)[1:-1], ROOT)
        whole = text.encode("utf-8", "replace").decode()
        return self.redactor.clean_data(json.loads(whole, parse_constant=str))

    def turns(self, turns: Sequence[Said | Reply]) -> tuple[dict[str, Any], ...]:
        """Each turn under the name of who spoke."""
        return tuple(
            {"said" if isinstance(turn, Said) else "reply": self.plain(asdict(turn))} for turn in turns
        )

    def back(self, reply: Mapping[str, Any]) -> Any:
        """A reply with the tree's place in it again."""
        text = canonical(reply)
        return json.loads(text.replace(ROOT, json.dumps(self.root)[1:-1]) if self.root else text)


def opening_key(role: str, turns: Sequence[Mapping[str, Any]]) -> str:
    """The key of a conversation's first reply; numbers and lessons differ from run to run."""
    opening = takewhile(lambda turn: "said" in turn, turns)
    words = (_LESSONS.sub("", turn["said"]["text"]) for turn in opening)
    return digest([role, *(_DIGITS.sub("#", text) for text in words)])


def follow(key: str, turns: Sequence[Mapping[str, Any]]) -> str:
    """The key after more turns: only what the model said counts, not what tools found."""
    for reply in (turn["reply"] for turn in turns if "reply" in turn):
        key = digest([key, reply["text"], [[call["name"], call["arguments"]] for call in reply["calls"]]])
    return key


class Recorded:
    """Writes one file for each call, named by its content and naming the one before."""

    def __init__(
        self,
        provider: Provider,
        folder: Path,
        redactor: Redactor,
        root: str = "",
        clock: Clock | None = None,
    ) -> None:
        self.provider = provider
        self.folder = folder
        self.tidy = Tidy(redactor, root)
        self.clock = clock or SystemClock()
        self.last = ""
        """The file of the last call; nothing when it failed."""
        self._prev, self._key, self._guide = "", "", ""
        self._told: tuple[object, ...] = ()
        self._turns: tuple[Said | Reply, ...] = ()

    def complete(self, request: Request) -> Reply:
        """The answer, after it was written down."""
        self.last = ""
        reply = self.provider.complete(request)
        self.last = self._write(self._record(request, reply))
        self._prev = self.last
        return reply

    def _record(self, request: Request, reply: Reply) -> Record:
        before = self.tidy.redactor.count
        since = len(self._turns) if request.turns[: len(self._turns)] == self._turns else 0
        turns = self.tidy.turns(request.turns[since:])
        key = follow(self._key if since else opening_key(request.role, turns), turns)
        text = self._new_guide(request)
        self._turns, self._key = request.turns, key
        return Record(
            prev=self._prev,
            at=self.clock.now().isoformat(),
            role=request.role,
            model=request.model,
            guide=self._guide,
            turns=turns,
            reply=self.tidy.plain(asdict(reply)),
            key=key,
            redacted=self.tidy.redactor.count - before,
            since=since,
            text=text,
        )

    def _new_guide(self, request: Request) -> Any:
        """What every request repeats, unless it is what the last one had."""
        told = request.system, request.tools, request.schema
        if told == self._told:
            return None
        self._told = told
        tools = [asdict(tool) for tool in request.tools]
        text = self.tidy.plain({"system": request.system, "tools": tools, "schema": request.schema})
        self._guide = digest(text)
        return text

    def _write(self, record: Record) -> str:
        text = canonical(vars(record))
        name = f"{hashlib.sha256(text.encode()).hexdigest()}.json"
        temporary = self.folder / f".{name}.{os.getpid()}.tmp"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(self.folder / name)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink()
            raise DiskError(
                f"cannot write {self.folder / name}: {error.strerror or error}",
                hint="make room or fix the disk, then `harness resume`",
            ) from error
        return name
