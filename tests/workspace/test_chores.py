"""What is done before a start, and in which order."""

from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import UsageError
from harness_executor.workspace.chores import Chore, read_chores
from harness_executor.workspace.needs import Service

PLACE = Path("environment.json")


def test_chores_come_in_their_order() -> None:
    """Install, build, what fills services, steps, and then what tests want."""
    data = {
        "runtime": {"install_command": "npm ci", "build_command": "tsc"},
        "startup": {"build": True, "steps": ["./key"]},
        "test_environment": {"setup_commands": ["./last"]},
    }
    service = Service("db", "postgresql", commands=("migrate", "seed"))
    found = read_chores(data, (service,), PLACE)
    assert [chore.command for chore in found] == ["npm ci", "tsc", "migrate", "seed", "./key", "./last"]


def test_a_build_is_a_chore_only_where_the_start_needs_it() -> None:
    """A build command alone is a check."""
    assert read_chores({"runtime": {"build_command": "tsc"}}, (), PLACE) == ()


def test_a_step_may_say_what_it_reads() -> None:
    """Name, variables, inputs and network of a step are read, whether it clears a database or stays open."""
    step = {"name": "m", "command": ["a", "b"], "inputs": ["**/*.sql"], "env": {"N": 1}, "network": False}
    steps = [step, {"command": "flask init-db", "clears": True}, {"command": "migrate", "lingers": True}]
    found = read_chores({"startup": {"steps": steps}}, (), PLACE)
    said = Chore("a b", "m", {"N": "1"}, ("**/*.sql",), network=False)
    assert found == (said, Chore("flask init-db", clears=True), Chore("migrate", lingers=True))


@pytest.mark.parametrize("steps", ["make", [3], [{"name": "x"}], [{"command": "a", "inputs": "b"}]])
def test_a_step_that_is_none_is_named(steps: Any) -> None:
    """Steps of another shape are refused where they stand."""
    with pytest.raises(UsageError, match=r"environment\.json: startup.steps"):
        read_chores({"startup": {"steps": steps}}, (), PLACE)
