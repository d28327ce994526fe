"""What is loaded once, before subagents are forked: SDKs whose import costs more than a second."""

import gc
import importlib

_SDKS = {"anthropic": "anthropic"}


def warm(providers: list[str]) -> None:
    """Load our own modules and the SDKs of these providers, and touch what they load on first use."""
    importlib.import_module("harness_executor.subagents.worker")
    for name in sorted({_SDKS[provider] for provider in providers if provider in _SDKS}):
        importlib.import_module(f"harness_executor.providers.{name}").touch()
    gc.collect()
    gc.freeze()
