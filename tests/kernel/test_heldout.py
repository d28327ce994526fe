"""Does a scenario ask with values that nobody can know beforehand?"""

from typing import Any

import pytest

from harness_executor.kernel.acts import Call
from harness_executor.kernel.expectation import Expect, JsonCheck
from harness_executor.kernel.heldout import draws
from harness_executor.kernel.scenario import Scenario, Step


def scenario(path: str, let: dict[str, str] | None = None, body: Any = None, value: Any = None) -> Scenario:
    """One step with these texts."""
    step = Step(Call(path, "POST", json=body), Expect(200, json=(JsonCheck("$.a", value=value),)))
    return Scenario("s", "why", (step,), let=let or {})


@pytest.mark.parametrize(
    "one",
    [
        scenario("/{{ random.word }}"),
        scenario("/", body={"a": ["{{ random.int }}"]}),
        scenario("/{{ name }}", {"name": "{{ random.word }}"}),
        scenario("/", {"first": "{{ random.word }}", "name": "{{ first }}!"}, body="{{ name }}"),
        scenario("/", {"n": "{{ random.int }}"}, value="{{ n }}"),
    ],
)
def test_a_value_that_is_used_is_drawn(one: Scenario) -> None:
    """In the path, the body or the expectation, straight or by a name."""
    assert draws(one)


@pytest.mark.parametrize(
    "one",
    [
        scenario("/items/1"),
        scenario("/{{ id }}"),
        scenario("/items", {"name": "{{ random.word }}"}),
        scenario("/{{ name }}", {"name": "fixed"}),
    ],
)
def test_a_value_that_is_not_used_is_not(one: Scenario) -> None:
    """What is captured, fixed or only named holds nothing out."""
    assert not draws(one)
