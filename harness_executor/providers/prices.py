"""What calls to a model cost, from data that is on this machine."""

import math
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from harness_executor.clock import SystemClock
from harness_executor.kernel.canonical import STRICT
from harness_executor.kernel.frozen import frozen
from harness_executor.providers.base import Usage
from harness_executor.providers.registry import split

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider

MICRO = 1_000_000
"""Microdollars in a dollar."""

_SELLERS = {
    "anthropic": "anthropic",
    "azure": "azure",
    "bedrock": "aws",
    "foundry": "azure",
    "openai": "openai",
    "openrouter": "openrouter",
    "vertex": "google",
}
"""Our name of a provider, and the name the price data has for it."""
_FREE = {"scripted", "replay"}


@frozen
class Price:
    """What the user says a model costs, in dollars for a million tokens."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    input: float
    output: float
    cache_read: float | None = None
    """Input that was read from a cache; as other input when it is not given."""
    cache_write: float | None = None
    """Input that was written to a cache; as other input when it is not given."""


def price(model: str, usage: Usage, own: Mapping[str, Price]) -> int | None:
    """Microdollars of a call, rounded up; nothing when the price is not known."""
    if model in own:
        return _own_price(own[model], usage)
    if split(model)[0] in _FREE:
        return 0
    found = _find(model)
    return None if found is None else _listed(found, usage, SystemClock().now())


def worst(model: str, input_tokens: int, output_tokens: int, own: Mapping[str, Price]) -> int | None:
    """The most microdollars a call with at most so many tokens can cost."""
    ways = (
        Usage(input_tokens, output_tokens),
        Usage(input_tokens, output_tokens, cache_read=input_tokens),
        Usage(input_tokens, output_tokens, cache_write=input_tokens),
    )
    if model in own:
        return max(_own_price(own[model], usage) for usage in ways)
    if split(model)[0] in _FREE:
        return 0
    found = _find(model)
    if found is None:
        return None
    return max(_listed(found, usage, moment) for moment in _moments(found) for usage in ways)


def window(model: str) -> int | None:
    """Tokens the model can read at once; nothing when that is not known."""
    found = None if split(model)[0] in _FREE else _look_up(model)
    return found[1].context_window if found else None


def _own_price(own: Price, usage: Usage) -> int:
    read, write = usage.cache_read, usage.cache_write
    fresh = max(0, usage.input_tokens - read - write)
    return math.ceil(
        fresh * _exactly(own.input)
        + read * _exactly(own.input if own.cache_read is None else own.cache_read)
        + write * _exactly(own.input if own.cache_write is None else own.cache_write)
        + usage.output_tokens * _exactly(own.output)
    )


def _exactly(dollars: float) -> Decimal:
    """As it was written; dollars for a million tokens are microdollars for one."""
    return Decimal(str(dollars))


def _find(model: str) -> "tuple[Provider, ModelInfo] | None":
    found = _look_up(model)
    moment = SystemClock().now()
    if found is None or found[1].get_prices(moment).input_mtok is None:
        return None
    return found if found[1].get_prices(moment).output_mtok is not None else None


@cache
def _look_up(model: str) -> "tuple[Provider, ModelInfo] | None":
    seller, name = split(model)
    if seller not in _SELLERS or not name:
        return None
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 - a sixth of a second to load

    try:
        return get_snapshot().find_provider_model(name, None, _SELLERS[seller], None)
    except LookupError:
        return None


def _listed(found: "tuple[Provider, ModelInfo]", usage: Usage, moment: datetime) -> int:
    from genai_prices import Usage as Used  # noqa: PLC0415 - a sixth of a second to load

    seller, model = found
    used = Used(
        input_tokens=max(usage.input_tokens, usage.cache_read + usage.cache_write),
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
    )
    cost = model.calc_price(used, seller, genai_request_timestamp=moment).total_price
    return math.ceil(cost * MICRO)


def _moments(found: "tuple[Provider, ModelInfo]") -> Iterator[datetime]:
    """Now, and every hour of a day for a price that depends on it."""
    now = SystemClock().now()
    hours = range(24) if isinstance(found[1].prices, list) else range(1)
    return (now + timedelta(hours=hour) for hour in hours)
