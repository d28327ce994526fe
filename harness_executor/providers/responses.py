"""OpenAI's models, through the Responses API."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from harness_executor.kernel.canonical import digest
from harness_executor.providers.base import Reply, Request, Said, Stop, ToolSpec
from harness_executor.providers.calling import ErrorEvent, Reading, Sdk, called, counted
from harness_executor.providers.features import Feature, Features

_STOPS = {"max_output_tokens": Stop.LENGTH, "content_filter": Stop.REFUSAL}
_MINE = {"message", "function_call", "reasoning"}
_CLOSING = ("response.completed", "response.incomplete", "response.failed")
_CACHE_KEY = 32


class ResponsesProvider:
    """One client of the Responses API; the service keeps nothing, the conversation is sent each time."""

    def __init__(self, sdk: Sdk, *, stream: bool = True, is_own: bool = True) -> None:
        self.sdk = sdk
        self.stream = stream
        self.is_own = is_own
        """Is it OpenAI itself, which seals its reasoning and routes by a cache key?"""
        self.features = Features(*(() if is_own else (Feature.SCHEMA_TWICE,)))
        """To others a schema is also sent as Chat Completions has it; some servers know only that."""

    def complete(self, request: Request) -> Reply:
        """The answer; raises ProviderError when there is none."""
        with self.features.minded(request):
            reply = self.sdk.ask("/responses", self._body(request), _READING, stream=self.stream)
        return _measured(reply, request.max_tokens)

    def _body(self, request: Request) -> dict[str, Any]:
        """The input comes last, so that a request begins with the whole of the one before it."""
        body: dict[str, Any] = {"model": request.model, "max_output_tokens": request.max_tokens}
        if self.stream:
            body["stream"] = True
        body["store"] = False
        if self.is_own:
            body["include"] = ["reasoning.encrypted_content"]
            body["prompt_cache_key"] = _cache_key(request)
        strict = Feature.STRICT in self.features
        if request.schema is not None and Feature.SCHEMA in self.features:
            held = {"name": "answer", "schema": dict(request.schema), **({"strict": True} if strict else {})}
            body["text"] = {"format": {"type": "json_schema", **held}}
            if Feature.SCHEMA_TWICE in self.features:
                body["response_format"] = {"type": "json_schema", "json_schema": held}
        if request.tools:
            body["tools"] = [{**_tool(spec), **self._held(spec)} for spec in request.tools]
        body["instructions"] = request.system
        body["input"] = [item for turn in request.turns for item in _items(turn)]
        return body

    def _held(self, spec: ToolSpec) -> dict[str, bool]:
        """Whether the model is held to the tool; OpenAI, untold, holds it to every one."""
        if Feature.STRICT in self.features:
            return {"strict": spec.strict}
        return {"strict": False} if self.is_own else {}


def _measured(reply: Reply, limit: int) -> Reply:
    """The reply; one that used all it may was cut off, also where a server calls it complete."""
    is_spent = reply.usage is not None and reply.usage.output_tokens >= limit
    return replace(reply, stop=Stop.LENGTH) if is_spent and reply.stop is Stop.END else reply


def _cache_key(request: Request) -> str:
    opening = request.turns[0] if request.turns else None
    return digest([request.role, request.system, opening.text if opening else ""])[:_CACHE_KEY]


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.schema),
    }


def _items(turn: Said | Reply) -> list[Mapping[str, Any]]:
    if isinstance(turn, Reply):
        return _repeated(turn)
    items: list[Mapping[str, Any]] = [
        {"type": "function_call_output", "call_id": result.call_id, "output": result.text}
        for result in turn.results
    ]
    if turn.text:
        items.append({"role": "user", "content": [{"type": "input_text", "text": turn.text}]})
    return items


def _repeated(reply: Reply) -> list[Mapping[str, Any]]:
    if reply.kept and all(item.get("type") in _MINE for item in reply.kept):
        items = list(reply.kept)
    else:
        items = [_spoken(reply.text)] if reply.text else []
        items += [
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": json.dumps(dict(call.arguments), ensure_ascii=False),
            }
            for call in reply.calls
        ]
    return items if any(item["type"] != "reasoning" for item in items) else [*items, _spoken("(nothing)")]


def _spoken(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def _whole(document: Any) -> Reply:
    if document.get("error") or document.get("status") == "failed":
        raise ErrorEvent(document.get("error") or {"message": "the answer failed"})
    items = [item for item in document["output"] if item["type"] in _MINE]
    parts = [part for item in items if item["type"] == "message" for part in item["content"]]
    calls = tuple(
        called(item["call_id"], item["name"], item["arguments"])
        for item in items
        if item["type"] == "function_call"
    )
    refused = [str(part["refusal"]) for part in parts if part["type"] == "refusal"]
    said = [str(part["text"]) for part in parts if part["type"] == "output_text"]
    used = document.get("usage") or {}
    details = used.get("input_tokens_details") or {}
    return Reply(
        text="".join(said or refused),
        calls=calls,
        stop=Stop.REFUSAL if refused else _stop(document, has_calls=bool(calls)),
        usage=counted(
            used.get("input_tokens"),
            used.get("output_tokens"),
            details.get("cached_tokens"),
            details.get("cache_write_tokens"),
        ),
        id=str(document.get("id", "")),
        kept=tuple(_kept(item) for item in items if item["type"] != "reasoning" or _is_sealed(item)),
    )


def _is_sealed(item: Mapping[str, Any]) -> bool:
    """Can the reasoning be sent back? Without its sealed content no service knows it."""
    return bool(item.get("encrypted_content"))


def _kept(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The item as it came, unless it is a call whose arguments no service would take back."""
    if item["type"] == "function_call" and called("", "", item["arguments"]).problem:
        return {**item, "arguments": "{}"}
    return item


def _stop(document: Mapping[str, Any], *, has_calls: bool) -> Stop:
    match document.get("status"):
        case "completed":
            return Stop.TOOLS if has_calls else Stop.END
        case "incomplete":
            reason = (document.get("incomplete_details") or {}).get("reason")
            return _STOPS.get(str(reason), Stop.OTHER)
        case status:
            raise ValueError(f"it ended with the status {status!r}")


def _gather(events: Iterable[Any]) -> Any:
    """The document of the closing event; where it has no items they come, in order, from their own events.

    What comes after the closing event is not waited for.
    """
    items: dict[int, Any] = {}
    closing = None
    for event in events:
        match event["type"]:
            case "response.output_item.done":
                items[event.get("output_index", len(items))] = event["item"]
            case "error":
                raise ErrorEvent(event)
            case name if name in _CLOSING:
                closing = event["response"]
                break
    if closing is not None and not closing.get("output"):
        closing = {**closing, "output": [items[index] for index in sorted(items)]}
    return closing


_READING = Reading(_whole, _gather, "response.completed")
