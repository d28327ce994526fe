"""The Messages protocol, also as the clouds wrap it."""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from harness_executor.providers.loopback.eventstream import message as eventstream_message
from harness_executor.providers.loopback.protocol import (
    Answer,
    Asked,
    Used,
    arguments_text,
    frame,
    pieces,
    texts,
)

_STOPS = {
    "end": "end_turn",
    "tools": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "pause": "pause_turn",
    "overflow": "model_context_window_exceeded",
}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_IN_PATH = re.compile(
    r"/models?/([^/]+?)(?:/invoke|:rawPredict|:streamRawPredict|/invoke-with-response-stream)"
)


class Messages:
    """As Anthropic, Vertex and Foundry speak it."""

    kind = "text/event-stream"

    def read(self, body: Mapping[str, Any], path: str) -> Asked:
        """What a request says."""
        said = body["messages"]
        in_path = _IN_PATH.search(path)
        return Asked(
            system=texts(body.get("system", "")),
            prompt=texts(said[0]["content"]),
            turn=sum(message["role"] == "assistant" for message in said),
            stream=bool(body.get("stream")),
            model=unquote(in_path[1]) if in_path else str(body.get("model", "")),
        )

    def whole(self, answer: Answer) -> Mapping[str, Any]:
        """The answer as one document."""
        message = self._opening(answer)
        usage = _usage(answer.used, answer.used.output) if answer.used else None
        return {
            **message,
            "content": _blocks(answer),
            "stop_reason": _STOPS.get(answer.stop, answer.stop),
            **({"usage": usage} if usage else {}),
        }

    def events(self, answer: Answer) -> list[bytes]:
        """The answer as a stream; the last event is the one that closes it."""
        found: list[dict[str, Any]] = [{"type": "message_start", "message": self._opening(answer)}]
        found.append({"type": "ping"})
        for index, block in enumerate(_blocks(answer)):
            found.extend(_block_events(index, block))
        delta = {"stop_reason": _STOPS.get(answer.stop, answer.stop), "stop_sequence": None}
        usage = {"output_tokens": answer.used.output} if answer.used else None
        found.append({"type": "message_delta", "delta": delta, **({"usage": usage} if usage else {})})
        found.append({"type": "message_stop"})
        return [self._frame(event) for event in found]

    def error(self, status: int, kind: str, message: str) -> Mapping[str, Any]:
        """An error as a document."""
        usual = _ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
        error: dict[str, Any] = {"type": usual, "message": message}
        if kind in _ERRORS.values():
            error["type"] = kind
        elif kind:
            error["details"] = {"error_code": kind}
        return {"type": "error", "error": error, "request_id": "req_body"}

    def error_event(self, kind: str, message: str) -> bytes:
        """An error in the middle of a stream."""
        return self._frame({"type": "error", "error": {"type": kind, "message": message}})

    def _frame(self, event: Mapping[str, Any]) -> bytes:
        return frame(event, str(event["type"]))

    def _opening(self, answer: Answer) -> dict[str, Any]:
        return {
            "id": f"msg_{answer.number}",
            "type": "message",
            "role": "assistant",
            "model": answer.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            **({"usage": _usage(answer.used, 1)} if answer.used else {}),
        }


class Bedrock(Messages):
    """As Amazon Bedrock speaks it: the path says whether to stream, and events are framed in binary."""

    kind = "application/vnd.amazon.eventstream"

    def read(self, body: Mapping[str, Any], path: str) -> Asked:
        """What a request says."""
        asked = super().read(body, path)
        streams = path.endswith("/invoke-with-response-stream")
        return Asked(asked.system, asked.prompt, asked.turn, streams, asked.model)

    def error_event(self, kind: str, message: str) -> bytes:
        """An error in the middle of a stream."""
        headers = {":message-type": "error", ":error-code": kind, ":error-message": message}
        return eventstream_message(headers, b"{}")

    def _frame(self, event: Mapping[str, Any]) -> bytes:
        inner = base64.b64encode(json.dumps(event).encode()).decode()
        headers = {":message-type": "event", ":event-type": "chunk", ":content-type": "application/json"}
        return eventstream_message(headers, json.dumps({"bytes": inner}).encode())


def _usage(used: Used, output: int) -> dict[str, Any]:
    return {
        "input_tokens": used.fresh,
        "cache_read_input_tokens": used.cache_read,
        "cache_creation_input_tokens": used.cache_write,
        "output_tokens": output,
    }


def _blocks(answer: Answer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if answer.thinking:
        signature = f"signed-{answer.number}"
        found.append({"type": "thinking", "thinking": answer.thinking, "signature": signature})
    if answer.text:
        found.append({"type": "text", "text": answer.text})
    for identity, name, arguments in answer.calls("toolu"):
        found.append({"type": "tool_use", "id": identity, "name": name, "input": arguments})
    return found


def _block_events(index: int, block: Mapping[str, Any]) -> list[dict[str, Any]]:
    empty: dict[str, Any]
    match block["type"]:
        case "text":
            empty = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": part} for part in pieces(block["text"])]
        case "thinking":
            empty = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": part} for part in pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case _:
            empty = {**block, "input": {}}
            text = arguments_text(block["input"]) if block["input"] != {} else ""
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in pieces(text)]
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]
