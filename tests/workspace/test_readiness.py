"""When a server counts as up, as a project says it."""

from pathlib import Path

import pytest

from harness_executor.errors import UsageError
from harness_executor.workspace.readiness import Readiness, read_readiness

PLACE = Path("environment.json")


def test_nothing_said_is_nothing_asked() -> None:
    """Without a word there is no kind and no endpoint, least of all the root."""
    assert read_readiness({}, PLACE) == Readiness("", "")


def test_a_command_can_say_that_a_server_is_up() -> None:
    """The kind `process` is read with its command, and refused without one."""
    found = read_readiness({"type": "process", "config": {"command": "./up"}}, PLACE)
    assert (found.type, found.command) == ("process", "./up")
    with pytest.raises(UsageError, match="has no command"):
        read_readiness({"type": "process"}, PLACE)


def test_a_text_of_the_answer_can_be_asked_for() -> None:
    """What the body must hold is read."""
    config = {"endpoint": "/health", "body_contains": "database: up"}
    assert read_readiness({"type": "http", "config": config}, PLACE).body_contains == "database: up"
