"""The provider of a model name, `provider:model`."""

import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

from harness_executor.config import from_environment, has_key
from harness_executor.errors import ModelUnknown
from harness_executor.kernel.frozen import frozen
from harness_executor.providers.base import Provider
from harness_executor.tables import Service

Names = tuple[str, ...]

DEMO = "`harness demo` needs none"


@frozen
class Known:
    """A provider whose variables are known; which models it has is its own business."""

    api: str
    """What is spoken, and through which client."""
    keys: Names = ()
    """Variables of which one has to hold a key."""
    needs: tuple[Names, ...] = ()
    """Of each of these, one variable has to be set."""
    secrets: Names = ()
    """Variables of a key that is passed on, where they are not `keys`."""
    base: Names = ()
    """Variables of an address."""
    url: str = ""
    """The address, when no variable has one."""
    package: str = ""
    """What has to be installed to sign in where no key is passed on."""


KNOWN: Mapping[str, Known] = {
    "anthropic": Known(
        "messages", keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), base=("ANTHROPIC_BASE_URL",)
    ),
    "bedrock": Known(
        "bedrock",
        keys=("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE"),
        needs=(("AWS_REGION", "AWS_DEFAULT_REGION"),),
        secrets=("AWS_BEARER_TOKEN_BEDROCK",),
        base=("ANTHROPIC_BEDROCK_BASE_URL",),
        package="botocore",
    ),
    "vertex": Known(
        "vertex",
        needs=(("ANTHROPIC_VERTEX_PROJECT_ID",), ("CLOUD_ML_REGION",)),
        secrets=("GOOGLE_OAUTH_ACCESS_TOKEN",),
        base=("ANTHROPIC_VERTEX_BASE_URL",),
        package="google.auth",
    ),
    "foundry": Known(
        "foundry",
        keys=("ANTHROPIC_FOUNDRY_API_KEY",),
        needs=(("ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL"),),
        base=("ANTHROPIC_FOUNDRY_BASE_URL",),
    ),
    "openai": Known("responses", keys=("OPENAI_API_KEY",), base=("OPENAI_BASE_URL",)),
    "azure": Known(
        "azure",
        keys=("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
        needs=(("AZURE_OPENAI_ENDPOINT",), ("OPENAI_API_VERSION",)),
        secrets=("AZURE_OPENAI_API_KEY",),
        base=("AZURE_OPENAI_ENDPOINT",),
    ),
    "chat": Known(
        "chat", needs=(("OPENAI_BASE_URL",),), secrets=("OPENAI_API_KEY",), base=("OPENAI_BASE_URL",)
    ),
    "ollama": Known("chat", url="http://127.0.0.1:11434/v1"),
    "lmstudio": Known("chat", url="http://127.0.0.1:1234/v1"),
    "vllm": Known("chat", url="http://127.0.0.1:8000/v1"),
    "openrouter": Known("chat", keys=("OPENROUTER_API_KEY",), url="https://openrouter.ai/api/v1"),
    "scripted": Known("scripted"),
    "replay": Known("replay"),
}


def split(model: str) -> tuple[str, str]:
    """The provider and the model of a name, divided by its first colon or slash."""
    found = re.search("[:/]", model)
    return (model[: found.start()], model[found.end() :]) if found else (model, "")


def check(model: str, services: Mapping[str, Service] | None = None) -> None:
    """Refuse a name that cannot work, before anything is started and without loading an SDK."""
    provider, name = split(model)
    named = services or {}
    if not model:
        raise ModelUnknown("no model was chosen", hint=f"--model anthropic:NAME, or HARNESS_MODEL; {DEMO}")
    if not name or (provider not in KNOWN and provider not in named):
        raise _unknown(model, named)
    if provider in named:
        _check_service(provider, named[provider])
        return
    known = KNOWN[provider]
    if known.keys and not has_key(*known.keys):
        raise ModelUnknown(f"there is no key for {provider}", hint=f"set {' or '.join(known.keys)}; {DEMO}")
    for one_of in known.needs:
        if not has_key(*one_of):
            raise ModelUnknown(
                f"{provider} cannot be reached without {' or '.join(one_of)}",
                hint=f"set {' or '.join(one_of)}; {DEMO}",
            )
    if known.package and not has_key(*known.secrets) and not _is_installed(known.package):
        raise ModelUnknown(
            f"{provider} needs the package {known.package} to sign in",
            hint=f"pip install 'anthropic[{provider}]', or set {' or '.join(known.secrets)}; {DEMO}",
        )
    if provider == "scripted" and not Path(name).is_file():
        raise ModelUnknown(f"there is no script {name}", hint="name a JSON file: --model scripted:FILE")


def api(provider: str, service: Service | None = None) -> str:
    """What is spoken with a provider; empty when it is not known."""
    if service is not None:
        return service.api
    return KNOWN[provider].api if provider in KNOWN else ""


def address(provider: str) -> str:
    """Where a known provider is reached; empty where the SDK knows it."""
    known = KNOWN.get(provider, Known(""))
    return from_environment(*known.base) or known.url


@frozen
class Recording:
    """Where the calls of an earlier task are, and which tree they are about now."""

    folder: str
    root: str = ""


def connect(
    model: str,
    service: Service | None = None,
    progress: Callable[[int], None] | None = None,
    recording: Recording | None = None,
    seconds: float | None = None,
) -> Provider:
    """The provider of a name, with this much time for a call; its SDK is loaded only now."""
    provider, name = split(model)
    match api(provider, service):
        case "":
            raise _unknown(model, {})
        case "scripted":
            from harness_executor.providers.scripted import load  # noqa: PLC0415 - only when it is used

            return load(Path(name))
        case "replay":
            from harness_executor.providers import replayed  # noqa: PLC0415 - only when it is used

            played = recording or Recording("")
            return replayed.load(Path(played.folder), played.root)
        case spoken:
            from harness_executor.providers.opening import opened  # noqa: PLC0415 - an SDK takes a second

            return opened(spoken, _reached(provider, service), progress, seconds)


@frozen
class Reached:
    """Where a service is, and what opens it."""

    base_url: str
    key: str
    stream: bool = True
    is_named: bool = False
    """Did the user name it, so that it may be anybody's?"""
    token: str = ""
    """A token that is not a key, where a cloud tells them apart."""
    version: str = ""
    """The version of the protocol, where a cloud wants to be told."""


def _reached(provider: str, service: Service | None) -> Reached:
    if service is not None:
        key = from_environment(service.key_env) if service.key_env else ""
        return Reached(service.base_url, key, service.stream, is_named=True)
    known = KNOWN[provider]
    return Reached(
        base_url=address(provider),
        key=from_environment(*(known.secrets or known.keys)),
        token=from_environment("AZURE_OPENAI_AD_TOKEN") if known.api == "azure" else "",
        version=from_environment("OPENAI_API_VERSION") if known.api == "azure" else "",
    )


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _check_service(name: str, service: Service) -> None:
    if not service.base_url.startswith(("http://", "https://")):
        raise ModelUnknown(
            f"the service {name} has the address {service.base_url!r}", hint="begin it with https://"
        )
    if service.key_env and not has_key(service.key_env):
        raise ModelUnknown(f"there is no key for {name}", hint=f"set {service.key_env}; {DEMO}")


def _unknown(model: str, services: Mapping[str, Service]) -> ModelUnknown:
    names = ", ".join([*KNOWN, *services])
    return ModelUnknown(
        f"{model!r} is not a model this version can reach",
        hint=f"write provider:model with one of {names}; {DEMO}",
    )
