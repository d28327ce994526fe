"""The official OpenAI SDK: its clients, for OpenAI, Azure and every server that imitates them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import openai

from harness_executor.errors import ModelUnknown
from harness_executor.providers.calling import Sdk
from harness_executor.providers.wire import Access, client


def direct(access: Access) -> Sdk:
    """OpenAI itself, or another service of its protocols."""
    means = {"api_key": access.key or "none", "base_url": access.base_url or "https://api.openai.com/v1"}
    return _made(openai.OpenAI, access, means)


def azure(access: Access, version: str, token: str = "") -> Sdk:
    """OpenAI's models on Azure, opened by a key or else by a token."""
    opens = {"api_key": access.key} if access.key else {"azure_ad_token": token or None}
    means = {**opens, "azure_endpoint": access.base_url or None, "api_version": version or None}
    return _made(openai.AzureOpenAI, replace(access, key=access.key or token), means)


def _made(kind: Any, access: Access, means: Mapping[str, Any]) -> Sdk:
    wire = access.wire()
    try:
        found = kind(**means, http_client=client(wire), max_retries=0)
    except (ValueError, openai.OpenAIError) as error:
        raise ModelUnknown(
            f"the service cannot be set up: {error}", hint="set its variables; `harness demo` needs none"
        ) from error
    return Sdk(found, wire, openai.Stream, openai.APIStatusError, openai.OpenAIError, access.key, openai.omit)
