"""Kinds of values that can be drawn."""

import json
import re
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_executor.kernel.drawing import KINDS
from harness_executor.kernel.values import draw
from tests.pages import text

SHAPES: dict[str, Any] = {
    "word": r"[a-z]{5,}",
    "email": r"[a-z]+@example\.(com|org|net)",
    "uuid": r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    "name": r"[A-Z][a-z]+ [A-Z][a-z]+",
    "sentence": r"[A-Z][a-z]+( [a-z]+){5}\.",
    "slug": r"[a-z]+(-[a-z]+){2}",
    "text": r"[a-z]+ .+ [a-z]+",
    "phone": r"\+1555[0-9]{7}",
    "hex": r"[0-9a-f]{32}",
    "url": r"https://[a-z]+\.example\.com/[a-z]+",
    "int": range(100_000, 1_000_000),
    "bigint": range(2**33, 2**53),
}


@pytest.mark.parametrize("kind", KINDS)
@given(st.text())
def test_a_drawn_value_has_the_shape_of_its_kind(kind: str, seed: str) -> None:
    """Who takes such values takes this one, whatever the seed; the same seed draws the same."""
    value = draw(kind, seed)
    assert value == draw(kind, seed) == json.loads(json.dumps(value))
    match SHAPES.get(kind):
        case str() as pattern:
            assert re.fullmatch(pattern, value)
        case range() as numbers:
            assert value in numbers


@given(st.text())
def test_dates_and_fractions_can_be_read(seed: str) -> None:
    """Dates are real dates, and a fraction is never a whole number."""
    assert date.fromisoformat(draw("date", seed)).year in range(1990, 2030)
    assert datetime.fromisoformat(draw("datetime", seed)).tzinfo is not None
    assert 0 < draw("float", seed) < 10_001
    assert not draw("float", seed).is_integer()
    assert isinstance(draw("bool", seed), bool)


def test_seeds_draw_different_values() -> None:
    """A program cannot be made to know its inputs."""
    for kind in set(KINDS) - {"bool"}:
        assert len({str(draw(kind, str(seed))) for seed in range(200)}) > 190, kind


def test_every_kind_is_documented() -> None:
    """Each kind has a row in docs/SCENARIOS.md."""
    rows = set(re.findall(r"^\| `random\.(\w+)` \|", text("docs/SCENARIOS.md"), re.M))
    assert rows == set(KINDS)
