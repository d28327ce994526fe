"""What a failure of a service means: whether it may pass, and what to do."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.errors import (
    ContextOverflow,
    KeyRefused,
    ProviderError,
    ProviderFault,
    QuotaSpent,
    RequestRefused,
)
from harness_executor.providers.failures import answered, broke_off, lost, request_id, wait_asked

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


def _error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, _error("Your credit balance is too low to access the API", type="x"), QuotaSpent),
        (429, _error("You exceeded your current quota, check your plan"), QuotaSpent),
        (429, _error("Quota exceeded for requests per minute"), ProviderFault),
        (429, _error("slow down", code="rate_limit_exceeded"), ProviderFault),
        (429, _error("x", type="billing_error"), QuotaSpent),
        (402, "Payment Required", QuotaSpent),
        (400, _error("This model's maximum context length is 8192 tokens"), ContextOverflow),
        (400, _error("the request exceeds the available context size, try"), ContextOverflow),
        (400, _error("Input is too long for requested model."), ContextOverflow),
        (400, _error("x", type="exceed_context_size_error"), ContextOverflow),
        (413, _error("prompt is too long"), ContextOverflow),
        (413, _error("Request exceeds the maximum size"), RequestRefused),
        (400, _error("messages: roles must alternate"), RequestRefused),
        (404, _error("model: no-such-model"), RequestRefused),
        (403, _error("your organization may not use this model"), KeyRefused),
        (599, "", ProviderFault),
        (418, None, RequestRefused),
    ],
)
def test_the_words_of_a_service_are_understood(status: int, body: Any, kind: type[ProviderError]) -> None:
    """Services say the same thing by other codes and words."""
    assert type(answered(status, {}, body)) is kind


def test_the_details_of_a_service_are_its_words() -> None:
    """Where an error has no message, what it says in detail names what is wrong."""
    detail = [{"type": "extra_forbidden", "loc": ["body", "tools", 0, "strict"], "msg": "Extra inputs"}]
    assert "strict" in answered(422, {}, {"detail": detail}).message


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_a_service_that_says_never_cannot_be_made_worse(status: int) -> None:
    """What would not be tried again keeps its name, whatever the service says about trying."""
    plain = answered(status, {}, "x")
    told = answered(status, {"x-should-retry": "false"}, "x")
    assert type(plain) is type(told)


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, 529, ProviderFault),
        ({"type": "error", "code": "server_error", "message": "m"}, 500, ProviderFault),
        ({"error": {"type": "throttlingException", "message": "m"}}, 429, ProviderFault),
        ({"error": {"type": "invalid_request_error", "message": "prompt is too long"}}, 400, ContextOverflow),
        ({"error": {"type": "authentication_error", "message": "m"}}, 401, KeyRefused),
        ({"error": {"code": 502, "message": "upstream"}}, 502, ProviderFault),
        ({"error": {"code": "429", "type": "x", "message": "busy"}}, 429, ProviderFault),
        ({"error": {"code": 402, "message": "m"}}, 402, QuotaSpent),
        ({"error": {"code": 12, "message": "m"}}, 200, ProviderFault),
        ({"error": {"message": "insufficient credits"}}, 200, QuotaSpent),
        ({"error": {"type": "api_error", "message": "your credit balance is too low"}}, 500, QuotaSpent),
        ({"error": {"code": "context_length_exceeded", "message": "m"}}, 400, ContextOverflow),
        ({"error": {"type": "server_error", "code": "context_length_exceeded"}}, 500, ContextOverflow),
        ({"error": {"type": "exceed_context_size_error", "message": "m"}}, 400, ContextOverflow),
        ({"error": {"code": "string_above_max_length", "message": "m"}}, 400, ContextOverflow),
        (
            {"error": {"type": "new", "message": "your input exceeds the context window"}},
            200,
            ContextOverflow,
        ),
        ("nonsense", 200, ProviderFault),
        (None, 200, ProviderFault),
    ],
)
def test_an_error_after_200_is_named_by_its_type(body: Any, status: int, kind: type[ProviderError]) -> None:
    """A type that nobody knows may pass; all of them may have cost something."""
    error = broke_off({"x-request-id": "r1"}, body)
    assert type(error) is kind
    assert (error.said.status, error.said.request_id, error.said.billed) == (status, "r1", True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "Mon, 09 Mar 2026 12:02:00 GMT"}, 120.0),
        ({"retry-after": "Mon, 09 Mar 2026 12:02:00 +0100"}, 0.0),
        ({"retry-after": "Mon, 09 Mar 2026 12:02:00"}, None),
        ({"retry-after": " 7 "}, 7.0),
        ({"retry-after": "1e3"}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "nan", "retry-after": "2"}, 2.0),
    ],
)
def test_a_wait_is_read_in_each_of_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds and dates are waits; a date without a zone and words are none."""
    assert wait_asked(headers, NOON) == seconds


@given(st.text(max_size=40))
def test_no_wait_is_ever_negative_or_endless(text: str) -> None:
    """Whatever a header holds, a wait is a number of seconds or nothing."""
    for name in ("retry-after", "retry-after-ms"):
        found = wait_asked({name: text}, NOON)
        assert found is None or 0 <= found < 1e13


def test_a_message_is_one_short_line() -> None:
    """Control characters and pages of text do not reach the terminal."""
    error = answered(500, {}, "\x1b[31mred\nand\ttabs\x00" + "long " * 1000)
    assert "\x1b" not in error.message
    assert "\n" not in error.message
    assert len(error.message) <= 500


@given(st.text(alphabet="0123456789ABCDEF-_", min_size=12, max_size=60), st.text(max_size=20))
def test_a_key_is_in_no_message(secret: str, around: str) -> None:
    """However a service repeats the key it was sent, nobody sees it."""
    words = f"{around}{secret}{around}"
    for error in (
        answered(401, {}, words, secret),
        broke_off({}, words, secret),
        lost(OSError(words), sent=True, secret=secret),
    ):
        assert secret not in error.message


def test_a_name_of_a_request_holds_no_trick() -> None:
    """An id is letters, and not too many."""
    assert request_id({"request-id": "req_1\x1b[2J;\n"}) == "req_12J"
    assert len(request_id({"x-request-id": "a" * 5000})) == 100
    assert request_id({}) == ""


def test_a_lost_call_says_what_was_behind_it() -> None:
    """The deepest reason is the one a user can act on."""
    try:
        try:
            raise ConnectionRefusedError(111, "Connection refused")
        except OSError as inner:
            raise RuntimeError("Connection error.") from inner
    except RuntimeError as outer:
        error = lost(outer, sent=False)
    assert "could not be reached: [Errno 111] Connection refused" in error.message
    assert isinstance(error, ProviderFault)
