"""How large is a request, before a service has counted it?"""

import json
from typing import Any

from harness_executor.providers.base import Reply, Request, Said

MARGIN = 1_000
"""Tokens a service may add around a request: its own words about tools, and marks between messages."""
EACH = 16
"""Bytes around a message, a result or a tool, for the marks that set it apart."""


def size(turn: Said | Reply) -> int:
    """Bytes of one turn as it is sent."""
    if isinstance(turn, Said):
        return _bytes(turn.text) + EACH + sum(_bytes(result.text) + 2 * EACH for result in turn.results)
    if turn.kept:
        return _bytes(_json(turn.kept)) + EACH
    calls = sum(_bytes(call.name) + _bytes(_json(call.arguments)) + 2 * EACH for call in turn.calls)
    return _bytes(turn.text) + EACH + calls


def fixed_size(request: Request) -> int:
    """Bytes of what every request of a conversation repeats: the guide and the tools."""
    tools = ((tool.name, tool.description, tool.schema) for tool in request.tools)
    return _bytes(request.system) + sum(_bytes(_json(tool)) + EACH for tool in tools)


def last_known(turns: tuple[Said | Reply, ...]) -> int | None:
    """Where the last reply stands whose service said what it read; nothing when there is none."""
    places = (at for at in range(len(turns) - 1, -1, -1) if _read(turns[at]))
    return next(places, None)


def bound(request: Request) -> int:
    """Tokens of input a service can charge for this request at the most: a token is at least one byte."""
    shape = _bytes(_json(request.schema)) if request.schema else 0
    known = last_known(request.turns)
    if known is None:
        return fixed_size(request) + sum(map(size, request.turns)) + shape + MARGIN
    reply = request.turns[known]
    new = sum(map(size, request.turns[known + 1 :]))
    return _read(reply) + _written(reply) + new + shape + MARGIN


def _read(turn: Said | Reply) -> int:
    return turn.usage.input_tokens if isinstance(turn, Reply) and turn.usage else 0


def _written(turn: Said | Reply) -> int:
    return turn.usage.output_tokens if isinstance(turn, Reply) and turn.usage else 0


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=dict)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
