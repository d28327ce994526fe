"""Any server that speaks Chat Completions."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from harness_executor.providers.base import Reply, Request, Said, Stop, ToolSpec
from harness_executor.providers.calling import ErrorEvent, Reading, Sdk, called, counted
from harness_executor.providers.features import Feature, Features

_STOPS = {
    "stop": Stop.END,
    "tool_calls": Stop.TOOLS,
    "function_call": Stop.TOOLS,
    "length": Stop.LENGTH,
    "content_filter": Stop.REFUSAL,
}

Cap = Literal["max_tokens", "max_completion_tokens"]
"""How the longest answer is called: imitators know the first, OpenAI's newer models only the second."""


class ChatProvider:
    """One client of the Chat Completions API."""

    def __init__(self, sdk: Sdk, *, stream: bool = True, cap: Cap = "max_tokens") -> None:
        self.sdk = sdk
        self.stream = stream
        self.cap = cap
        self.features = Features()

    def complete(self, request: Request) -> Reply:
        """The answer; raises ProviderError when there is none."""
        with self.features.minded(request):
            return self.sdk.ask("/chat/completions", self._body(request), _READING, stream=self.stream)

    def _body(self, request: Request) -> dict[str, Any]:
        """The messages come last, so that a request begins with the whole of the one before it."""
        body: dict[str, Any] = {"model": request.model, self.cap: request.max_tokens}
        if self.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        strict = Feature.STRICT in self.features
        if request.schema is not None and Feature.SCHEMA in self.features:
            schema = {
                "name": "answer",
                "schema": dict(request.schema),
                **({"strict": True} if strict else {}),
            }
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if request.tools:
            body["tools"] = [_tool(spec, strict=strict) for spec in request.tools]
        system = {"role": "system", "content": request.system}
        body["messages"] = [system, *(one for turn in request.turns for one in _messages(turn))]
        return body


def _tool(spec: ToolSpec, *, strict: bool) -> dict[str, Any]:
    function: dict[str, Any] = {
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.schema),
    }
    if spec.strict and strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _messages(turn: Said | Reply) -> list[dict[str, Any]]:
    if isinstance(turn, Reply):
        return [_repeated(turn)]
    found: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": result.call_id, "content": result.text} for result in turn.results
    ]
    if turn.text:
        found.append({"role": "user", "content": turn.text})
    return found


def _repeated(reply: Reply) -> dict[str, Any]:
    if len(reply.kept) == 1 and reply.kept[0].get("role") == "assistant" and "type" not in reply.kept[0]:
        return dict(reply.kept[0])
    return _message(reply.text, [_call(call.id, call.name, dict(call.arguments)) for call in reply.calls])


def _message(text: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    if calls:
        return {"role": "assistant", "content": text or None, "tool_calls": calls}
    return {"role": "assistant", "content": text if text.strip() else "(nothing)"}


def _call(identity: str, name: str, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": text}}


def _whole(document: Any) -> Reply:
    if document.get("error"):
        raise ErrorEvent(document)
    choice = document["choices"][0]
    message, reason = choice["message"], choice["finish_reason"]
    if reason is None:
        raise ValueError("it does not say why it stopped")
    text = str(message.get("content") or message.get("refusal") or "")
    asked = [
        (str(call["id"]), str(call["function"]["name"]), call["function"].get("arguments"))
        for call in message.get("tool_calls") or ()
    ]
    calls = tuple(called(*one) for one in asked)
    stop = _STOPS.get(str(reason), Stop.OTHER)
    if message.get("refusal"):
        stop = Stop.REFUSAL
    elif calls and stop is Stop.END:
        stop = Stop.TOOLS
    used = document.get("usage") or {}
    details = used.get("prompt_tokens_details") or {}
    repeated = [
        _call(call.id, call.name, "{}" if call.problem else said)
        for call, (_, _, said) in zip(calls, asked, strict=True)
    ]
    return Reply(
        text=text,
        calls=calls,
        stop=stop,
        usage=counted(
            used.get("prompt_tokens"),
            used.get("completion_tokens"),
            details.get("cached_tokens"),
            details.get("cache_write_tokens"),
        ),
        id=str(document.get("id", "")),
        kept=(_message(text, repeated),),
    )


class _Gathering:
    """The completion that a stream adds up to."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = {}
        self.words: dict[str, list[str]] = {"content": [], "refusal": []}
        self.calls: dict[int, dict[str, Any]] = {}
        self.stop: Any = None

    def take(self, chunk: Any) -> None:
        """Add one chunk."""
        if chunk.get("error"):
            raise ErrorEvent(chunk)
        self.document.setdefault("id", chunk.get("id", ""))
        if chunk.get("usage"):
            self.document["usage"] = chunk["usage"]
        for choice in chunk.get("choices") or ():
            if choice.get("index", 0) == 0:
                self.stop = choice.get("finish_reason") or self.stop
                self._delta(choice.get("delta") or {})

    def _delta(self, delta: Mapping[str, Any]) -> None:
        for name, words in self.words.items():
            if delta.get(name):
                words.append(delta[name])
        for part in delta.get("tool_calls") or ():
            call = self.calls.setdefault(self._place(part), {"id": "", "name": "", "arguments": []})
            function = part.get("function") or {}
            call["id"] = part.get("id") or call["id"]
            call["name"] = function.get("name") or call["name"]
            call["arguments"].append(_text(function.get("arguments")))

    def _place(self, part: Mapping[str, Any]) -> int:
        """Where a part of a call belongs; some servers do not number them, and send each call whole."""
        if isinstance(part.get("index"), int):
            return int(part["index"])
        last = max(self.calls, default=-1)
        return last + 1 if part.get("id") or last < 0 else last

    def whole(self) -> dict[str, Any] | None:
        """The completion, if it said why it stopped."""
        if self.stop is None:
            return None
        message: dict[str, Any] = {name: "".join(words) for name, words in self.words.items()}
        message["tool_calls"] = [
            _call(call["id"] or f"call_{index}", call["name"], "".join(call["arguments"]))
            for index, call in sorted(self.calls.items())
        ]
        return {**self.document, "choices": [{"message": message, "finish_reason": self.stop}]}


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""


def _gather(chunks: Iterable[Any]) -> dict[str, Any] | None:
    gathering = _Gathering()
    for chunk in chunks:
        gathering.take(chunk)
    return gathering.whole()


_READING = Reading(_whole, _gather, "finish_reason")
