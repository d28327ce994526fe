"""The Chat Completions protocol."""

from collections.abc import Mapping
from typing import Any

from harness_executor.providers.loopback.protocol import Answer, Asked, arguments_text, frame, pieces, texts
from harness_executor.providers.loopback.responses import Responses

_STOPS = {"end": "stop", "tools": "tool_calls", "length": "length", "refusal": "content_filter"}


class Chat(Responses):
    """As OpenAI and the many servers that imitate it speak it; errors are those of Responses."""

    def read(self, body: Mapping[str, Any], path: str) -> Asked:  # noqa: ARG002 - what every protocol is given
        """What a request says."""
        said = body["messages"]
        system = [texts(one["content"]) for one in said if one["role"] in ("system", "developer")]
        first: dict[str, Any] = next((one for one in said if one["role"] == "user"), {})
        return Asked(
            system="".join(system),
            prompt=texts(first.get("content", "")),
            turn=sum(one["role"] == "assistant" for one in said),
            stream=bool(body.get("stream")),
            model=str(body.get("model", "")),
        )

    def whole(self, answer: Answer) -> Mapping[str, Any]:
        """The answer as one document."""
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
        if answer.thinking:
            message["reasoning_content"] = answer.thinking
        calls = _calls(answer)
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": _stop(answer), "logprobs": None}
        usage = {"usage": _usage(answer)} if answer.used else {}
        return {**_opening(answer, "chat.completion"), "choices": [choice], **usage}

    def events(self, answer: Answer) -> list[bytes]:
        """The answer as a stream; the last event is the one that closes it."""
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": part} for part in pieces(answer.text)]
        for index, call in enumerate(_calls(answer)):
            function = call["function"]
            start = {**call, "index": index, "function": {**function, "arguments": ""}}
            deltas.append({"tool_calls": [start]})
            for part in pieces(function["arguments"]):
                deltas.append({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
        chunk = _opening(answer, "chat.completion.chunk")
        found = [{**chunk, "choices": [_choice(delta)]} for delta in deltas]
        closing = {**chunk, "choices": [_choice({}, _stop(answer))]}
        usage = [frame({**chunk, "choices": [], "usage": _usage(answer)})] if answer.used else []
        last = frame(closing) + b"".join(usage) + b"data: [DONE]\n\n"
        return [*(frame(event) for event in found), last]

    def error_event(self, kind: str, message: str) -> bytes:
        """An error in the middle of a stream."""
        return frame({"error": {"message": message, "type": kind, "param": None, "code": kind}})


def _opening(answer: Answer, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{answer.number}", "object": kind, "created": 0, "model": answer.model}


def _choice(delta: Mapping[str, Any], stop: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": stop, "logprobs": None}


def _calls(answer: Answer) -> list[dict[str, Any]]:
    return [
        {
            "id": identity,
            "type": "function",
            "function": {"name": name, "arguments": arguments_text(arguments)},
        }
        for identity, name, arguments in answer.calls("call")
    ]


def _stop(answer: Answer) -> str:
    return _STOPS.get(answer.stop, answer.stop)


def _usage(answer: Answer) -> dict[str, Any]:
    used = answer.used
    assert used is not None  # noqa: S101 - asked by the caller
    return {
        "prompt_tokens": used.input,
        "completion_tokens": used.output,
        "total_tokens": used.input + used.output,
        "prompt_tokens_details": {"cached_tokens": used.cache_read, "cache_write_tokens": used.cache_write},
    }
