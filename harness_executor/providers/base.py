"""What a model is to the rest of the program: something that answers a request."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Protocol

from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen


class Stop(StrEnum):
    """Why a model stopped."""

    END = "end"
    TOOLS = "tools"
    LENGTH = "length"
    REFUSAL = "refusal"
    PAUSE = "pause"
    """The service paused a long turn; sending the conversation again goes on."""
    OVERFLOW = "overflow"
    """The model's window is full."""
    OTHER = "other"


@frozen
class ToolSpec:
    """A tool as a model sees it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    strict: bool = False
    """Shall the service hold the model to the schema? Only for a schema that `strict` services accept."""


@frozen
class ToolCall:
    """A tool a model wants to use."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    problem: str = ""
    """Why the arguments could not be read; the tool is not used then."""


@frozen
class ToolResult:
    """What a tool said."""

    call_id: str
    text: str
    is_error: bool = False


@frozen
class Usage:
    """What a call used."""

    input_tokens: int = 0
    """All of the input, whatever of it came from a cache."""
    output_tokens: int = 0
    cache_read: int = 0
    """The part of the input that was read from a cache."""
    cache_write: int = 0
    """The part of the input that was written to a cache."""


@frozen
class Reply:
    """What a model answered."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    stop: Stop = Stop.END
    usage: Usage | None = Usage()
    """Nothing when the service did not say; never taken for zero."""
    id: str = ""
    """The service's name for the call."""
    kept: tuple[Mapping[str, Any], ...] = ()
    """The reply as the service sent it, to be sent back unchanged."""


@frozen
class Said:
    """One message from our side: text, or the results of tools."""

    text: str = ""
    results: tuple[ToolResult, ...] = ()


@frozen
class Request:
    """A conversation so far, and what the model may use to go on."""

    role: str
    model: str
    system: str
    turns: tuple[Said | Reply, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 16_000
    schema: Mapping[str, Any] | None = None
    """When given, the answer is one JSON text of this schema."""


@frozen
class Patience:
    """How a call to a model that fails is tried again."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    attempts: int = 10
    """How often one call is sent at the most."""
    longest: float = 3600.0
    """Seconds to wait at the most; a service that asks for more parks the task."""
    used: int = 0
    """Attempts in a row that already failed before this process began."""
    wait: float = 0.0
    """Seconds that are left of a wait that a crash cut short."""


class Provider(Protocol):
    """A model that answers a request."""

    def complete(self, request: Request) -> Reply:
        """The answer; raises ProviderError when there is none."""
        ...
