"""Claude, through the official SDK's Messages API."""

from typing import Any

import anthropic

from harness_executor.errors import ProviderError
from harness_executor.providers.base import Reply, Request, Said, Stop, ToolCall, Usage

_STOPS = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "tool_use": Stop.TOOLS,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "refusal": Stop.REFUSAL,
}


class AnthropicProvider:
    """One client; keys and address come from the process environment, as the SDK reads them."""

    def __init__(self) -> None:
        self.client = anthropic.Anthropic(max_retries=0, timeout=600.0)

    def complete(self, request: Request) -> Reply:
        """The answer; raises ProviderError when there is none."""
        tools: Any = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
            for tool in request.tools
        ]
        messages: Any = [_message(turn) for turn in request.turns]
        try:
            answer = self.client.messages.create(
                model=request.model,
                max_tokens=request.max_tokens,
                system=request.system,
                messages=messages,
                tools=tools,
            )
        except anthropic.APIStatusError as error:
            raise ProviderError(
                f"the model answered {error.status_code}: {error.message[:500]}",
                hint="see the provider's status and your key",
            ) from error
        except anthropic.AnthropicError as error:
            raise ProviderError(
                f"the model could not be reached: {error}", hint="check the network and the key"
            ) from error
        except TypeError as error:  # what the SDK raises when it has no key
            raise ProviderError(f"the model could not be asked: {error}", hint="set the key") from error
        except ValueError as error:
            raise _no_message(error) from error
        return _reply(answer)


def touch() -> None:
    """Have the SDK load what it loads on first use, so that forks need not."""
    client = anthropic.Anthropic(api_key="none", max_retries=0)
    _ = client.messages
    client.close()


def _message(turn: Said | Reply) -> dict[str, Any]:
    if isinstance(turn, Said):
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
    blocks = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
        for call in turn.calls
    ]
    return {"role": "assistant", "content": blocks or [{"type": "text", "text": "(nothing)"}]}


def _reply(answer: Any) -> Reply:
    try:
        return _read(answer)
    except (AttributeError, TypeError) as error:
        raise _no_message(error) from error


def _no_message(error: Exception) -> ProviderError:
    return ProviderError(
        f"the model sent something that is no message: {error}",
        hint="check that ANTHROPIC_BASE_URL is a model's address",
    )


def _read(answer: Any) -> Reply:
    text = "".join(block.text for block in answer.content if block.type == "text")
    calls = tuple(
        ToolCall(block.id, block.name, block.input if isinstance(block.input, dict) else {})
        for block in answer.content
        if block.type == "tool_use"
    )
    usage = Usage(int(answer.usage.input_tokens), int(answer.usage.output_tokens))
    return Reply(text, calls, _STOPS.get(answer.stop_reason, Stop.OTHER), usage)
