"""The provider of a model name, `provider:model`."""

from pathlib import Path

from harness_executor.config import has_key
from harness_executor.errors import ModelUnknown
from harness_executor.providers.base import Provider

_KEYS = {"anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), "scripted": ()}


def split(model: str) -> tuple[str, str]:
    """The provider and the model of a name."""
    provider, _, name = model.partition(":")
    if not name and "/" in model:
        provider, _, name = model.partition("/")
    return provider, name


def check(model: str) -> None:
    """Refuse a name that cannot work, before anything is started and without loading an SDK."""
    provider, name = split(model)
    if not model:
        raise ModelUnknown(
            "no model was chosen", hint="--model anthropic:NAME, or HARNESS_MODEL; `harness demo` needs none"
        )
    if provider not in _KEYS or not name:
        raise ModelUnknown(
            f"{model!r} is not a model this version can reach",
            hint=f"write provider:model with one of {', '.join(_KEYS)}; `harness demo` needs no model",
        )
    if _KEYS[provider] and not has_key(*_KEYS[provider]):
        raise ModelUnknown(
            f"there is no key for {provider}",
            hint=f"set {' or '.join(_KEYS[provider])}; `harness demo` needs none",
        )
    if provider == "scripted" and not Path(name).is_file():
        raise ModelUnknown(f"there is no script {name}", hint="name a JSON file: --model scripted:FILE")


def connect(model: str) -> Provider:
    """The provider of a name; its SDK is loaded only now."""
    provider, name = split(model)
    match provider:
        case "anthropic":
            from harness_executor.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - over a second to load

            return AnthropicProvider()
        case "scripted":
            from harness_executor.providers.scripted import load  # noqa: PLC0415 - only when it is used

            return load(Path(name))
    raise ModelUnknown(f"{model!r} is not a model this version can reach")
