"""Conversations that tests hold, and models that say what they are told."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from harness_executor.providers.base import Provider, Reply, Request, Said, Stop, ToolCall
from harness_executor.providers.registry import connect
from harness_executor.subagents.jobs import Job, Message
from harness_executor.subagents.loop import Conversation
from harness_executor.tools.base import Place
from harness_executor.tools.files import reading_tools, writing_tools
from harness_executor.tools.shell import Terminal
from tests.rooms import unboxed


@dataclass
class Played:
    """A model that gives these replies one after the other, or fails with these errors."""

    replies: Iterable[Reply | Exception]
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = iter(self.replies)

    def complete(self, request: Request) -> Reply:
        """The next reply."""
        self.requests.append(request)
        reply = next(self.left)
        if isinstance(reply, Exception):
            raise reply
        return reply


def conversation(
    job: Job, heard: list[Message] | None = None, provider: Provider | None = None
) -> Conversation:
    """A conversation about a job, with the real tools."""
    place = Place(Path(job.root), Path(job.scratch) / "output")
    terminal = Terminal(place, unboxed(place.root, place.spill), Path(job.scratch) / "shell.log")
    return Conversation(
        job=job,
        provider=provider or connect(job.model),
        system="You are the executor.",
        model="m",
        tools=(*reading_tools(place), *writing_tools(place), *terminal.tools()),
        terminal=terminal,
        say=(heard if heard is not None else []).append,
    )


def told(talk: Conversation) -> list[str]:
    """What the model was told after its job: texts and results of tools."""
    said = [turn for turn in talk.turns[1:] if isinstance(turn, Said)]
    return [text for turn in said for text in (turn.text, *(result.text for result in turn.results)) if text]


def using(*calls: ToolCall, stop: Stop = Stop.TOOLS, text: str = "") -> Reply:
    """A reply that uses tools."""
    return Reply(text, calls, stop)


def handing_over(status: str = "success", summary: str = "added the route") -> Reply:
    """A reply that submits a result."""
    return using(ToolCall("s", "submit_result", {"status": status, "summary": summary}))
