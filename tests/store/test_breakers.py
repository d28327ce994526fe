"""Breakers that every task of a user shares."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness_executor.kernel.breaker import COOLING, FAILURES, Breaker
from harness_executor.store.breakers import Breakers

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_failures_add_up_over_processes(tmp_path: Path) -> None:
    """Each failure is kept in the file, whoever counts it."""
    for _ in range(FAILURES):
        Breakers(tmp_path).failed("anthropic", NOW)
    assert Breakers(tmp_path).read("anthropic").open_until(NOW) == NOW + COOLING
    assert Breakers(tmp_path).read("openai") == Breaker()


def test_an_answer_forgets_them(tmp_path: Path) -> None:
    """A service that worked starts from nothing."""
    breakers = Breakers(tmp_path)
    breakers.failed("anthropic", NOW)
    breakers.worked("anthropic")
    breakers.worked("anthropic")
    assert breakers.read("anthropic") == Breaker()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"failures":"x","opened":""}', "\x00"])
def test_a_damaged_file_closes_the_breaker(tmp_path: Path, content: str) -> None:
    """What cannot be read does not stop a task."""
    breakers = Breakers(tmp_path)
    breakers.failed("anthropic", NOW)
    for path in tmp_path.iterdir():
        path.write_text(content)
    assert breakers.read("anthropic") == Breaker()
