"""What a wire protocol is to the loopback model: how requests are read and answers are written."""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from harness_executor.kernel.frozen import frozen


@frozen
class Asked:
    """What a request says, whatever its protocol."""

    system: str
    prompt: str
    """The first words of our side."""
    turn: int
    """How many answers there have been."""
    stream: bool
    model: str


@frozen
class Used:
    """What the answer says it used."""

    fresh: int
    """Input that came from no cache."""
    output: int
    cache_read: int = 0
    cache_write: int = 0

    @property
    def input(self) -> int:
        """All of the input."""
        return self.fresh + self.cache_read + self.cache_write


@frozen
class Answer:
    """A reply of the script with what a service adds to it."""

    data: Mapping[str, Any]
    """The reply: text, calls, stop, thinking."""
    number: int
    """The number of the request, from which ids are made."""
    model: str
    used: Used | None

    @property
    def text(self) -> str:
        """Its words."""
        return str(self.data.get("text", ""))

    @property
    def thinking(self) -> str:
        """What it thought, or nothing."""
        return str(self.data.get("thinking", ""))

    @property
    def stop(self) -> str:
        """Why it stopped."""
        return str(self.data.get("stop", "tools" if self.data.get("calls") else "end"))

    def calls(self, prefix: str) -> list[tuple[str, str, Any]]:
        """Id, name and arguments of each call."""
        return [
            (f"{prefix}_{self.number}_{at}", str(call["name"]), call.get("arguments", {}))
            for at, call in enumerate(self.data.get("calls", ()))
        ]


class WireProtocol(Protocol):
    """One protocol, as a service speaks it."""

    @property
    def kind(self) -> str:
        """The content type of its streams."""
        ...

    def read(self, body: Mapping[str, Any], path: str) -> Asked:
        """What a request says."""
        ...

    def whole(self, answer: Answer) -> Mapping[str, Any]:
        """The answer as one document."""
        ...

    def events(self, answer: Answer) -> list[bytes]:
        """The answer as a stream; the last event is the one that closes it."""
        ...

    def error(self, status: int, kind: str, message: str) -> Mapping[str, Any]:
        """An error as a document."""
        ...

    def error_event(self, kind: str, message: str) -> bytes:
        """An error in the middle of a stream."""
        ...


def texts(content: Any) -> str:
    """The words of a message, however its content is written."""
    if isinstance(content, str):
        return content
    return "".join(str(block.get("text", "")) for block in content or () if isinstance(block, dict))


def arguments_text(arguments: Any) -> str:
    """Arguments as a service sends them: JSON, or the very text that the script has."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def pieces(text: str, size: int = 200) -> list[str]:
    """A text in the parts a stream sends, two at least where it has two characters."""
    step = max(1, min(size, (len(text) + 1) // 2))
    return [text[at : at + step] for at in range(0, len(text), step)]


def frame(data: Mapping[str, Any], event: str = "") -> bytes:
    """One server-sent event."""
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()
