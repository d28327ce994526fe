"""Time and ids: the only place that asks for either."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_executor.clock import SystemClock, new_id, new_task_id, secret_bytes, slug

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


def test_wall_time_is_utc_and_now() -> None:
    """The label of a fact is the time it happened, with its zone."""
    before = datetime.now(UTC)
    now = SystemClock().now()
    assert now.tzinfo is UTC
    assert timedelta(0) <= now - before < timedelta(seconds=5)


def test_monotonic_time_never_goes_back() -> None:
    """Later is never less, and sleeping takes at least its time."""
    clock = SystemClock()
    times = [clock.monotonic() for _ in range(100)]
    assert times == sorted(times)
    began = clock.monotonic()
    clock.sleep(0.02)
    assert clock.monotonic() - began >= 0.02


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Add GET /todos/stats", "add-get-todos-stats"),
        ("  -- leading and trailing -- ", "leading-and-trailing"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\nb\0c", "a-b-c"),
        ("été", "t"),
        ("日本語", "task"),
        ("", "task"),
        ("---", "task"),
        ("x" * 100, "x" * 40),
        ("a" * 39 + " b", "a" * 39),
    ],
)
def test_a_slug_is_readable_and_safe(text: str, name: str) -> None:
    """Only small letters, digits and single dashes are left of a text."""
    assert slug(text) == name


@settings(max_examples=200, deadline=None, database=None)
@given(st.text(max_size=200))
def test_a_slug_is_safe_whatever_the_text(text: str) -> None:
    """No text makes a name that is empty, long, hidden or a path."""
    assert re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?", slug(text))


def test_a_task_id_says_what_and_when() -> None:
    """An id has the request, the day and something that is its own."""
    assert re.fullmatch(r"add-stats-20260309-[a-z2-9]{6}", new_task_id("Add stats", NOON))


def test_ids_do_not_repeat() -> None:
    """The same request at the same moment gets another id."""
    assert len({new_task_id("Add stats", NOON) for _ in range(200)}) == 200
    assert len({new_id() for _ in range(200)}) == 200
    assert len({secret_bytes() for _ in range(200)}) == 200


def test_ids_and_secrets_have_their_length() -> None:
    """An id is 32 hexadecimal digits, a secret as long as it was asked for."""
    assert re.fullmatch("[0-9a-f]{32}", new_id())
    assert [len(secret_bytes()), len(secret_bytes(16))] == [32, 16]
