"""The Responses protocol."""

from collections.abc import Mapping
from typing import Any

from harness_executor.providers.loopback.protocol import Answer, Asked, arguments_text, frame, pieces, texts

_WHOLE = ("end", "tools")
_REASONS = {"length": "max_output_tokens", "refusal": "content_filter"}
_CODES = {
    401: ("invalid_request_error", "invalid_api_key"),
    402: ("insufficient_quota", "insufficient_quota"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}


class Responses:
    """As OpenAI speaks it."""

    kind = "text/event-stream"

    def read(self, body: Mapping[str, Any], path: str) -> Asked:  # noqa: ARG002 - what every protocol is given
        """What a request says."""
        items = body["input"]
        items = [{"role": "user", "content": items}] if isinstance(items, str) else items
        ours = [_is_ours(item) for item in items]
        first: dict[str, Any] = next((item for item in items if item.get("role") == "user"), {})
        return Asked(
            system=str(body.get("instructions") or ""),
            prompt=texts(first.get("content", "")),
            turn=sum(not own and (at == 0 or ours[at - 1]) for at, own in enumerate(ours)),
            stream=bool(body.get("stream")),
            model=str(body.get("model", "")),
        )

    def whole(self, answer: Answer) -> Mapping[str, Any]:
        """The answer as one document."""
        refuses = answer.stop == "refusal" and bool(answer.text)
        incomplete = answer.stop not in _WHOLE and not refuses
        return {
            **_opening(answer),
            "status": "incomplete" if incomplete else "completed",
            "incomplete_details": {"reason": _REASONS.get(answer.stop, answer.stop)} if incomplete else None,
            "output": _items(answer),
            **({"usage": _usage(answer)} if answer.used else {}),
        }

    def events(self, answer: Answer) -> list[bytes]:
        """The answer as a stream; the last event is the one that closes it."""
        found: list[dict[str, Any]] = [{"type": "response.created", "response": _opening(answer)}]
        for index, item in enumerate(_items(answer)):
            found.append({"type": "response.output_item.added", "output_index": index, "item": _empty(item)})
            found.extend({**delta, "output_index": index, "item_id": item["id"]} for delta in _deltas(item))
            found.append({"type": "response.output_item.done", "output_index": index, "item": item})
        last = self.whole(answer)
        found.append({"type": f"response.{last['status']}", "response": last})
        return [frame({**event, "sequence_number": at}, event["type"]) for at, event in enumerate(found)]

    def error(self, status: int, kind: str, message: str) -> Mapping[str, Any]:
        """An error as a document."""
        usual = ("server_error", "server_error") if status >= 500 else ("invalid_request_error", None)
        name, code = (kind, kind) if kind else _CODES.get(status, usual)
        return {"error": {"message": message, "type": name, "param": None, "code": code}}

    def error_event(self, kind: str, message: str) -> bytes:
        """An error in the middle of a stream."""
        event = {"type": "error", "code": kind, "message": message, "param": None, "sequence_number": 9}
        return frame(event, "error")


def _is_ours(item: Mapping[str, Any]) -> bool:
    return item.get("role") in ("user", "system", "developer") or item.get("type") == "function_call_output"


def _opening(answer: Answer) -> dict[str, Any]:
    return {
        "id": f"resp_{answer.number}",
        "object": "response",
        "created_at": 0,
        "model": answer.model,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _items(answer: Answer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if answer.thinking:
        sealed = f"sealed-{answer.number}"
        item = {"type": "reasoning", "id": f"rs_{answer.number}", "summary": [], "encrypted_content": sealed}
        found.append(item)
    if answer.text:
        refuses = answer.stop == "refusal"
        words: dict[str, Any] = {"type": "output_text", "text": answer.text, "annotations": []}
        part = {"type": "refusal", "refusal": answer.text} if refuses else words
        found.append(
            {
                "type": "message",
                "id": f"msg_{answer.number}",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    for identity, name, arguments in answer.calls("call"):
        found.append(
            {
                "type": "function_call",
                "id": f"fc_{identity}",
                "call_id": identity,
                "name": name,
                "arguments": arguments_text(arguments),
                "status": "completed",
            }
        )
    return found


def _empty(item: Mapping[str, Any]) -> dict[str, Any]:
    match item["type"]:
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "function_call":
            return {**item, "status": "in_progress", "arguments": ""}
        case _:
            return {**item, "encrypted_content": None}


def _deltas(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    match item["type"]:
        case "message":
            return [{**event, "content_index": 0} for event in _part_events(item["content"][0])]
        case "function_call":
            name, text = "response.function_call_arguments", item["arguments"]
            done = {"type": f"{name}.done", "arguments": text, "name": item["name"]}
            return [*({"type": f"{name}.delta", "delta": one} for one in pieces(text)), done]
        case _:
            return []


def _part_events(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    kind = "refusal" if part["type"] == "refusal" else "text"
    name, text = ("refusal" if kind == "refusal" else "output_text"), part[kind]
    return [
        {"type": "response.content_part.added", "part": {**part, kind: ""}},
        *({"type": f"response.{name}.delta", "delta": one, "logprobs": []} for one in pieces(text)),
        {"type": f"response.{name}.done", kind: text, "logprobs": []},
        {"type": "response.content_part.done", "part": part},
    ]


def _usage(answer: Answer) -> dict[str, Any]:
    used = answer.used
    assert used is not None  # noqa: S101 - asked by the caller
    return {
        "input_tokens": used.input,
        "input_tokens_details": {"cached_tokens": used.cache_read, "cache_write_tokens": used.cache_write},
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.input + used.output,
    }
