"""Opens the way to a service, with the SDK that speaks its protocol."""

from dataclasses import replace
from typing import Protocol

from harness_executor.errors import ModelUnknown
from harness_executor.providers.base import Provider
from harness_executor.providers.calling import Sdk
from harness_executor.providers.registry import Reached
from harness_executor.providers.wire import Access, Limits, Progress

REASONING = Limits(idle=300.0)
"""A model that reasons behind closed doors sends nothing meanwhile."""


class Opened(Provider, Protocol):
    """A provider that speaks through an SDK."""

    sdk: Sdk


def opened(
    api: str, reached: Reached, progress: Progress | None = None, seconds: float | None = None
) -> Opened:
    """The provider that speaks a protocol, with this much time for a call; only its SDK is loaded."""
    limits = REASONING if api == "responses" else Limits()
    limits = replace(limits, seconds=min(limits.seconds, seconds or limits.seconds))
    access = Access(reached.base_url, reached.key, reached.stream, limits, progress)
    if api in ("messages", "bedrock", "vertex", "foundry"):
        return _claude(api, access, is_own=not reached.is_named)
    if api == "responses":
        from harness_executor.providers import openai, responses  # noqa: PLC0415 - the SDK is slow to load

        sdk = openai.direct(access)
        return responses.ResponsesProvider(sdk, stream=access.stream, is_own=not reached.is_named)
    if api == "azure":
        from harness_executor.providers import chat, openai  # noqa: PLC0415 - the SDK is slow to load

        sdk = openai.azure(access, reached.version, reached.token)
        return chat.ChatProvider(sdk, stream=access.stream, cap="max_completion_tokens")
    if api == "chat":
        from harness_executor.providers import chat, openai  # noqa: PLC0415 - the SDK is slow to load

        return chat.ChatProvider(openai.direct(access), stream=access.stream)
    raise ModelUnknown(f"nobody here speaks {api!r}", hint="messages, responses or chat")


def _claude(api: str, access: Access, *, is_own: bool) -> Opened:
    from harness_executor.providers import anthropic  # noqa: PLC0415 - the SDK is slow to load

    match api:
        case "bedrock":
            return anthropic.bedrock(access)
        case "vertex":
            return anthropic.vertex(access)
        case "foundry":
            return anthropic.foundry(access)
        case _:
            return anthropic.direct(access, is_own=is_own)
