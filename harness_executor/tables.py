"""What a config.toml may say: each table of it, checked."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Literal

from harness_executor.errors import UsageError
from harness_executor.kernel.budget import Budget, Caps
from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen
from harness_executor.kernel.hosts import BadEntry, read_allowed

BOXES = ("auto", "bubblewrap", "landlock", "seatbelt", "none")
"""The sandboxes that can be asked for."""
_ROLES = {"default", "planner", "executor", "verifier", "reviewer"}
_CAPS = {"self_fix", "respawn", "validation", "verification", "attempts"}
_SPANS = ("call", "task", "night", "day")
_UNITS = ("usd", "tokens", "turns", "minutes")
_APIS = ("messages", "responses", "chat")
_PRICES = {"input", "output", "cache_read", "cache_write"}


@frozen
class Service:
    """A model service the user named, such as a server on this machine."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    api: Literal["messages", "responses", "chat"] = "chat"
    """The protocol it speaks: Anthropic's Messages, OpenAI's Responses, or Chat Completions."""
    base_url: str = ""
    key_env: str = ""
    """The variable that holds its key; without one, no key is sent."""
    window: int = 0
    """Tokens its models can read at once; 0 when unknown."""
    stream: bool = True
    """Are answers streamed?"""


def read_models(models: Mapping[str, Any], path: Path) -> dict[str, str]:
    """The model of each role."""
    for role, name in models.items():
        if role not in _ROLES or not isinstance(name, str):
            raise UsageError(
                f"{path}: models.{role} = {name!r}",
                hint=f"provider:model for {', '.join(sorted(_ROLES))}",
            )
    return dict(models)


def read_caps(caps: Mapping[str, Any], path: Path) -> dict[str, int]:
    """How often things are tried."""
    for name, value in caps.items():
        if name not in _CAPS or not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise UsageError(
                f"{path}: caps.{name} = {value!r}",
                hint=f"whole numbers for {', '.join(sorted(_CAPS))}",
            )
    return dict(caps)


def read_budget(spans: Mapping[str, Any], path: Path) -> Budget:
    """Caps of money, tokens, turns and time, by their span."""
    for span, caps in spans.items():
        if span not in _SPANS or not isinstance(caps, dict):
            raise UsageError(
                f"{path}: budget.{span} = {caps!r}", hint=f"a table for one of {', '.join(_SPANS)}"
            )
        for name, value in caps.items():
            if name not in _UNITS or not _is_amount(value):
                raise UsageError(
                    f"{path}: budget.{span}.{name} = {value!r}",
                    hint=f"numbers from 0 on for {', '.join(_UNITS)}",
                )
    return Budget(**{span: caps_of(**caps) for span, caps in spans.items()})


def caps_of(
    *,
    usd: float | None = None,
    tokens: int | None = None,
    turns: int | None = None,
    minutes: float | None = None,
) -> Caps:
    """Caps as people write them."""
    return Caps(
        None if usd is None else int(usd * 1_000_000),
        None if tokens is None else int(tokens),
        None if turns is None else int(turns),
        None if minutes is None else minutes * 60,
    )


def read_services(user: Mapping[str, Any], path: Path) -> dict[str, Service]:
    """Services the user named."""
    named = user.get("providers", {})
    known = {member.name: member for member in fields(Service)}
    for name, given in named.items():
        wrong = set(given) - set(known) if isinstance(given, dict) else {"no table"}
        if wrong or not _is_service(given):
            raise UsageError(
                f"{path}: providers.{name} = {given!r}",
                hint=f"base_url, and perhaps {', '.join(sorted(set(known) - {'base_url'}))}; "
                f"api is one of {', '.join(_APIS)}",
            )
    return {name: Service(**given) for name, given in named.items()}


def _is_service(given: Mapping[str, Any]) -> bool:
    texts = (given.get("base_url"), given.get("key_env", ""))
    return (
        bool(given.get("base_url"))
        and all(isinstance(text, str) for text in texts)
        and given.get("api", "chat") in _APIS
        and type(given.get("window", 0)) is int
        and type(given.get("stream", True)) is bool
    )


def read_addresses(user: Mapping[str, Any], path: Path) -> dict[str, str]:
    """Where the user has databases and other services of projects, by their names."""
    found = user.get("services", {})
    for name, url in found.items():
        if not isinstance(url, str) or "://" not in url:
            raise UsageError(f"{path}: services.{name} is no address", hint="postgresql://HOST:PORT/DATABASE")
    return dict(found)


def read_list(data: Mapping[str, Any], table: str, name: str, path: Path) -> tuple[str, ...]:
    """A list of texts in a table."""
    found = data.get(table, {}).get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
        raise UsageError(f"{path}: {table}.{name} = {found!r}", hint="a list of texts")
    if name == "read" and not all(one.startswith("/") for one in found):
        raise UsageError(f"{path}: {table}.{name} = {found!r}", hint="a list of absolute paths")
    return tuple(found)


def read_box(user: Mapping[str, Any], path: Path) -> str:
    """The sandbox that is asked for."""
    chosen = user.get("sandbox", {}).get("use", "auto")
    if chosen not in BOXES:
        raise UsageError(f"{path}: sandbox.use = {chosen!r}", hint=f"one of {', '.join(BOXES)}")
    return str(chosen)


def read_prices(prices: Mapping[str, Any], path: Path) -> dict[str, dict[str, float]]:
    """What models cost."""
    for model, price in prices.items():
        fits = isinstance(price, dict) and {"input", "output"} <= set(price) <= _PRICES
        if not fits or not all(map(_is_amount, price.values())):
            raise UsageError(
                f"{path}: prices.{model} = {price!r}",
                hint="dollars per million tokens: input and output, and perhaps cache_read and cache_write",
            )
    return {model: dict(price) for model, price in prices.items()}


def read_hosts(data: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    """Hosts that setup steps may reach."""
    hosts = read_list(data, "network", "allow", path)
    try:
        read_allowed(hosts)
    except BadEntry as error:
        raise UsageError(
            f"{path}: network.allow: {error}",
            hint='a host such as "pypi.org", "pypi.org:443" or "*.npmjs.org", with no scheme, path or user',
        ) from error
    return hosts


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
