"""Claude, through the official SDK's client for the Messages API."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import anthropic

from harness_executor.errors import ModelUnknown
from harness_executor.kernel.canonical import Ambiguous, parse
from harness_executor.providers.base import Reply, Request, Said, Stop, ToolSpec
from harness_executor.providers.calling import Document, ErrorEvent, Reading, Sdk, called, counted
from harness_executor.providers.features import Feature, Features
from harness_executor.providers.wire import Access, client

_STOPS = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "tool_use": Stop.TOOLS,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.OVERFLOW,
    "pause_turn": Stop.PAUSE,
    "refusal": Stop.REFUSAL,
}
_FOREIGN = {"message", "function_call", "reasoning"}
"""Types of what another protocol keeps."""
_SPOKEN = {"text", "tool_use"}
_UNMARKED = {"thinking", "redacted_thinking"}
"""Types of blocks that bear no mark for the cache."""
_CACHED = {"type": "ephemeral"}
_PATH = "/v1/messages"


class AnthropicProvider:
    """One client of the Messages API, as Anthropic, a cloud or another service offers it."""

    def __init__(self, sdk: Sdk, *, stream: bool = True, is_own: bool = True, marks: bool = False) -> None:
        self.sdk = sdk
        self.stream = stream
        self.marks = marks
        """Is caching asked for at single blocks? Some clouds know it nowhere else."""
        self.features = Features(*((Feature.THINKING, Feature.CACHING) if is_own else ()))
        """A service of Claude thinks, and caches prompts, when asked."""

    def complete(self, request: Request) -> Reply:
        """The answer; raises ProviderError when there is none."""
        with self.features.minded(request):
            return self.sdk.ask(_PATH, self._body(request), _READING, stream=self.stream)

    def _body(self, request: Request) -> dict[str, Any]:
        """The messages come last, so that a request begins with the whole of the one before it."""
        body: dict[str, Any] = {"model": request.model, "max_tokens": request.max_tokens}
        if self.stream:
            body["stream"] = True
        caches = Feature.CACHING in self.features
        if caches and not self.marks:
            body["cache_control"] = _CACHED
        if Feature.THINKING in self.features:
            body["thinking"] = {"type": "adaptive"}
        if request.schema is not None and Feature.SCHEMA in self.features:
            body["output_config"] = {"format": {"type": "json_schema", "schema": dict(request.schema)}}
        if request.tools:
            body["tools"] = [_tool(spec, strict=Feature.STRICT in self.features) for spec in request.tools]
        body["system"] = request.system
        body["messages"] = [_message(turn) for turn in request.turns]
        return _marked(body) if caches and self.marks else body


def _marked(body: dict[str, Any]) -> dict[str, Any]:
    """The same with marks that have all of it cached: at the system and at the last block."""
    if body["system"]:
        body["system"] = [{"type": "text", "text": body["system"], "cache_control": _CACHED}]
    last = body["messages"][-1]["content"] if body["messages"] else []
    if last and last[-1].get("type") not in _UNMARKED:
        last[-1] = {**last[-1], "cache_control": _CACHED}
    return body


def direct(access: Access, *, is_own: bool = True) -> AnthropicProvider:
    """Anthropic itself, or another service of its protocol."""
    means = {"api_key": access.key or "none", "base_url": access.base_url or "https://api.anthropic.com"}
    return _made(anthropic.Anthropic, access, means, is_own=is_own)


def bedrock(access: Access) -> AnthropicProvider:
    """Claude on Amazon Bedrock; its streams need a package that the SDK does not bring."""
    streams = access.stream and find_spec("botocore") is not None
    means = {"api_key": access.key or None, "base_url": access.base_url or None}
    return _made(anthropic.AnthropicBedrock, replace(access, stream=streams), means, marks=True)


def vertex(access: Access) -> AnthropicProvider:
    """Claude on Google Vertex AI."""
    means = {"access_token": access.key or None, "base_url": access.base_url or None}
    return _made(anthropic.AnthropicVertex, access, means, marks=True)


def foundry(access: Access) -> AnthropicProvider:
    """Claude on Microsoft Foundry."""
    means = {"api_key": access.key, "base_url": access.base_url or None}
    return _made(anthropic.AnthropicFoundry, access, means)


def _made(kind: Any, access: Access, means: Mapping[str, Any], **how: bool) -> AnthropicProvider:
    wire = access.wire()
    try:
        found = kind(**means, http_client=client(wire), max_retries=0, open_telemetry=False)
    except (ValueError, anthropic.AnthropicError) as error:
        raise ModelUnknown(
            f"the service cannot be set up: {error}", hint="set its variables; `harness demo` needs none"
        ) from error
    errors = (anthropic.APIStatusError, anthropic.AnthropicError)
    omitted = anthropic.omit if kind is anthropic.Anthropic else None
    sdk = Sdk(found, wire, anthropic.Stream, *errors, access.key, omitted)
    return AnthropicProvider(sdk, stream=access.stream, **how)


def _tool(spec: ToolSpec, *, strict: bool) -> dict[str, Any]:
    tool = {"name": spec.name, "description": spec.description, "input_schema": dict(spec.schema)}
    return {**tool, "strict": True} if spec.strict and strict else tool


def _message(turn: Said | Reply) -> dict[str, Any]:
    if isinstance(turn, Reply):
        return {"role": "assistant", "content": _repeated(turn)}
    blocks: list[dict[str, Any]] = [
        {
            "type": "tool_result",
            "tool_use_id": result.call_id,
            "content": result.text,
            "is_error": result.is_error,
        }
        for result in turn.results
    ]
    if turn.text:
        blocks.append({"type": "text", "text": turn.text})
    return {"role": "user", "content": blocks}


def _repeated(reply: Reply) -> list[Mapping[str, Any]]:
    if reply.kept and not any(block.get("type") in _FOREIGN for block in reply.kept):
        blocks = list(reply.kept)
    else:
        blocks = [{"type": "text", "text": reply.text}]
        blocks += [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
            for call in reply.calls
        ]
    said = [block for block in blocks if block.get("type") != "text" or str(block.get("text", "")).strip()]
    if any(block.get("type") in _SPOKEN for block in said) or reply.stop is Stop.PAUSE:
        return said
    return [*said, {"type": "text", "text": "(nothing)"}]


def _whole(document: Any) -> Reply:
    if document.get("type") == "error":
        raise ErrorEvent(document)
    blocks: list[Document] = [_sound(dict(block)) for block in document["content"]]
    used = document.get("usage") or {}
    usage = counted(
        used.get("input_tokens"),
        used.get("output_tokens"),
        used.get("cache_read_input_tokens"),
        used.get("cache_creation_input_tokens"),
    )
    if usage is not None:
        everything = usage.input_tokens + usage.cache_read + usage.cache_write
        usage = counted(everything, usage.output_tokens, usage.cache_read, usage.cache_write)
    return Reply(
        text="".join(str(block["text"]) for block in blocks if block["type"] == "text"),
        calls=tuple(
            called(block["id"], block["name"], block.get("unread", block["input"]))
            for block in blocks
            if block["type"] == "tool_use"
        ),
        stop=_STOPS.get(str(document.get("stop_reason")), Stop.OTHER),
        usage=usage,
        id=str(document.get("id", "")),
        kept=tuple({name: block[name] for name in block if name != "unread"} for block in blocks),
    )


def _sound(block: dict[str, Any]) -> dict[str, Any]:
    """The block, with arguments that a service takes back: what cannot be read is set apart."""
    if block["type"] == "tool_use" and not isinstance(block["input"], dict):
        return {**block, "input": {}, "unread": block["input"]}
    return block


class _Gathering:
    """The message that a stream adds up to."""

    def __init__(self) -> None:
        self.message: dict[str, Any] = {}
        self.blocks: dict[int, dict[str, Any]] = {}
        self.parts: dict[tuple[int, str], list[str]] = {}
        self.is_closed = False

    def take(self, event: Any) -> None:
        """Add one event."""
        match event["type"]:
            case "message_start":
                self.message = dict(event["message"])
                self.message["usage"] = dict(self.message.get("usage") or {})
            case "content_block_start":
                self.blocks[event["index"]] = dict(event["content_block"])
            case "content_block_delta":
                self._delta(event["index"], event["delta"])
            case "message_delta":
                self.message["stop_reason"] = event["delta"].get("stop_reason")
                used = event.get("usage") or {}
                self.message["usage"].update({name: used[name] for name in used if used[name] is not None})
            case "message_stop":
                self.is_closed = True
            case "error":
                raise ErrorEvent(event)

    def _delta(self, index: int, delta: Mapping[str, Any]) -> None:
        for name in ("text", "thinking", "signature", "partial_json"):
            if name in delta:
                self.parts.setdefault((index, name), []).append(delta[name])
        if "citation" in delta:
            block = self.blocks[index]
            block["citations"] = [*(block.get("citations") or ()), delta["citation"]]

    def whole(self) -> dict[str, Any] | None:
        """The message, if its closing event came."""
        if not self.is_closed:
            return None
        for (index, name), parts in self.parts.items():
            text = "".join(parts)
            if name == "partial_json":
                self.blocks[index]["input"] = _read(text) if text else self.blocks[index].get("input", {})
            else:
                self.blocks[index][name] = str(self.blocks[index].get(name) or "") + text
        return {**self.message, "content": [self.blocks[index] for index in sorted(self.blocks)]}


def _read(text: str) -> Any:
    try:
        return parse(text)
    except Ambiguous:
        return text


def _gather(events: Iterable[Any]) -> dict[str, Any] | None:
    """The message; what comes after its closing event is not waited for."""
    gathering = _Gathering()
    for event in events:
        gathering.take(event)
        if gathering.is_closed:
            break
    return gathering.whole()


_READING = Reading(_whole, _gather, "message_stop")
