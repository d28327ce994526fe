"""What is loaded once, before subagents are forked: SDKs whose import costs more than a second."""

import gc
import importlib

from harness_executor.providers.registry import address, api

_SPOKEN = {"messages", "bedrock", "vertex", "foundry", "responses", "chat", "azure"}


def warm(providers: list[str]) -> None:
    """Load our own modules and the SDKs of these providers, and have each play one call in memory.

    A provider is named as in a model's name, or by the protocol it speaks.
    """
    importlib.import_module("harness_executor.subagents.worker").prepare()
    for name in sorted(set(providers)):
        spoken = name if name in _SPOKEN else api(name)
        if spoken in _SPOKEN:
            rehearsal = importlib.import_module("harness_executor.providers.rehearsal")
            rehearsal.rehearse(spoken, trusts=not address(name).startswith("http://"))
    gc.collect()
    gc.freeze()
