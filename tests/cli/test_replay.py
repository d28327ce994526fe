"""`--model replay:TASK`: a whole run again, without a model."""

import json
from pathlib import Path

from harness_executor.demo.sample import REQUEST
from harness_executor.demo.script import HONEST
from harness_executor.providers.loopback import LoopbackModel
from tests.conftest import Cli, git

KEY = "sk-ant-canary-0123456789abcdef"


def test_a_run_is_played_again_without_a_model(sample: Path, cli: Cli) -> None:
    """With the service gone and no key, the recorded calls lead to the same change, proved anew."""
    with LoopbackModel(HONEST) as model:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
        first = cli("run", REQUEST, "--repo", sample, "--model", "anthropic:honest", "--json", env=env)
        assert first.code == 0, first.err
        asked = len(model.requests)
    task = first.json()["task_id"]
    calls = list((sample / "harness" / "tasks" / task / "calls").iterdir())
    assert len(calls) == asked
    assert not any(KEY in path.read_text() for path in calls)
    again = cli("run", REQUEST, "--repo", sample, "--model", f"replay:{task}", "--json")
    assert again.code == 0, again.err
    assert again.json()["model_calls"] == asked
    assert again.json()["spent"]["usd"] == 0
    trees = [git(sample, "rev-parse", f"{one.json()['commit']}^{{tree}}") for one in (first, again)]
    assert trees[0] == trees[1]


def test_another_request_is_not_answered_from_a_recording(sample: Path, cli: Cli) -> None:
    """A recording answers what was asked then, and nothing else."""
    with LoopbackModel(HONEST) as model:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
        first = cli("run", REQUEST, "--repo", sample, "--model", "anthropic:honest", "--json", env=env)
    other = cli(
        "run", "add a clock", "--repo", sample, "--model", f"replay:{first.json()['task_id']}", "--json"
    )
    assert other.code == 1
    assert "the recording has no reply 1 of this conversation of the planner" in other.json()["summary"]


def test_a_damaged_recording_is_named(sample: Path, cli: Cli) -> None:
    """A record that was changed is refused with its path."""
    with LoopbackModel(HONEST) as model:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
        first = cli("run", REQUEST, "--repo", sample, "--model", "anthropic:honest", "--json", env=env)
    task = first.json()["task_id"]
    record = sorted((sample / "harness" / "tasks" / task / "calls").iterdir())[0]
    record.write_text(json.dumps({**json.loads(record.read_text()), "role": "nobody"}))
    again = cli("run", REQUEST, "--repo", sample, "--model", f"replay:{task}", "--json")
    assert again.code != 0
    assert f"{record} is not a recorded call: it was changed" in again.out + again.err
