"""What a model is to the rest of the program: something that answers a request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class Stop(StrEnum):
    """Why a model stopped."""

    END = "end"
    TOOLS = "tools"
    LENGTH = "length"
    REFUSAL = "refusal"
    OTHER = "other"


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a model sees it."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A tool a model wants to use."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class ToolResult:
    """What a tool said."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True)
class Usage:
    """What a call used."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class Reply:
    """What a model answered."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    stop: Stop = Stop.END
    usage: Usage = Usage()


@dataclass(frozen=True)
class Said:
    """One message from our side: text, or the results of tools."""

    text: str = ""
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True)
class Request:
    """A conversation so far, and what the model may use to go on."""

    role: str
    model: str
    system: str
    turns: tuple[Said | Reply, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 8192
    extra: Mapping[str, Any] = field(default_factory=dict)


class Provider(Protocol):
    """A model that answers a request."""

    def complete(self, request: Request) -> Reply:
        """The answer; raises ProviderError when there is none."""
        ...
