"""A job for a subagent, and the messages it sends while it works."""

import json
from dataclasses import FrozenInstanceError, asdict

import pytest

from harness_executor.errors import ShapeError
from harness_executor.kernel.retries import Policy
from harness_executor.shapes import read
from harness_executor.subagents.jobs import Beat, Done, Failed, Job, Message, Spent
from tests.subagents.conftest import Office


def test_a_job_survives_the_way_to_its_process(office: Office) -> None:
    """A job written as JSON is read back as it was."""
    job = office.job(prompt="ajoute « été »\n\u2028", check="make test", seconds=0.5)
    assert read(Job, json.loads(json.dumps(asdict(job)))) == job


@pytest.mark.parametrize("extra", [{"cwd": "/"}, {"role": "judge"}, {"may_write": 1}, {"max_turns": "60"}])
def test_a_job_that_does_not_fit_is_refused(office: Office, extra: dict[str, object]) -> None:
    """A job with a key too many, or a value of another type, is refused."""
    with pytest.raises(ShapeError):
        read(Job, {**asdict(office.job()), **extra})


def test_a_job_cannot_write_unless_it_says_so(office: Office) -> None:
    """Nothing may be written, and nothing is checked, by default."""
    made = asdict(office.job())
    del made["may_write"]
    assert read(Job, made).may_write is False
    assert read(Job, made).check == ""


def test_a_job_is_mended_as_often_as_the_policy_says(office: Office) -> None:
    """The cap of a job and the cap of the policy are the same number."""
    assert office.job().self_fix == Policy().self_fix


@pytest.mark.parametrize("message", [Beat(1, "b"), Spent(1, 2, 3), Done({"a": [1]}), Failed("E", "m", "h")])
def test_a_message_survives_the_way_back(message: Message) -> None:
    """A message written as JSON is read back as it was, and cannot be changed."""
    assert read(type(message), json.loads(json.dumps(asdict(message)))) == message
    with pytest.raises(FrozenInstanceError):
        message.anything = 1  # type: ignore[union-attr]
