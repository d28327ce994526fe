"""How large is a request, before a service has counted it?"""

from dataclasses import replace

import pytest

from harness_executor.providers.base import (
    Reply,
    Request,
    Said,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
)
from harness_executor.providers.measure import MARGIN, bound, fixed_size, last_known, size

TOOL = ToolSpec("read", "Read a file.", {"type": "object"})
OPENING = Request("executor", "m", "You are.", (Said("é" * 1000),), (TOOL,))


def _after(request: Request, *turns: Said | Reply) -> Request:
    return replace(request, turns=(*request.turns, *turns))


def test_before_the_first_reply_every_byte_may_be_a_token() -> None:
    """Guide, tools and message are counted by their bytes in UTF-8."""
    assert 2000 + len("You are.") < bound(OPENING) - MARGIN < 2200


def test_after_a_reply_only_what_is_new_is_counted_by_bytes() -> None:
    """What the service said it read and wrote stands for everything up to its reply."""
    reply = Reply("ok", usage=Usage(700, 300))
    request = _after(OPENING, reply, Said("x" * 50))
    assert bound(request) == 700 + 300 + size(Said("x" * 50)) + MARGIN


def test_the_last_reply_that_was_counted_decides() -> None:
    """A reply of which nobody knows what it used is counted by its bytes."""
    unknown = Reply("y" * 400, usage=None)
    request = _after(OPENING, Reply("a", usage=Usage(10, 1)), Said("b"), Reply("c", usage=Usage(700, 300)))
    request = _after(request, Said("d"), unknown, Said("e"))
    assert last_known(request.turns) == 3
    assert bound(request) == 1000 + size(Said("d")) + size(unknown) + size(Said("e")) + MARGIN


@pytest.mark.parametrize("usage", [None, Usage(), Usage(0, 50)], ids=["none", "zero", "nothing read"])
def test_a_service_that_says_nothing_is_not_taken_for_free(usage: Usage | None) -> None:
    """A conversation that was read for nothing is not believed."""
    request = _after(OPENING, Reply("a" * 100, usage=usage), Said("b"))
    assert bound(request) > bound(OPENING) + 100


def test_calls_results_and_what_was_kept_are_counted() -> None:
    """Whatever is sent has its bytes in the size."""
    call = ToolCall("1", "write", {"content": "z" * 500})
    assert size(Reply("", (call,))) > 500
    assert size(Reply("", kept=({"type": "thinking", "thinking": "t" * 500},))) > 500
    assert size(Said(results=(ToolResult("1", "r" * 500), ToolResult("2", "q" * 300)))) > 800
    assert fixed_size(OPENING) > len("You are.Read a file.")


def test_a_schema_for_the_answer_is_counted() -> None:
    """A schema that was not in the request before is new."""
    assert bound(replace(OPENING, schema={"title": "s" * 500})) > bound(OPENING) + 500


def test_a_lone_surrogate_has_a_size() -> None:
    """A text that UTF-8 cannot hold breaks nothing."""
    assert size(Said("\ud800")) > 0
