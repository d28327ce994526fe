"""A model that never stops is stopped before its cap is passed, whatever happens to the coordinator."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness_executor.demo.sample import REQUEST
from harness_executor.demo.script import HONEST
from harness_executor.kernel.events import CallCharged, CallReserved, Cause, TaskPaused, TaskResumed
from harness_executor.providers.loopback import LoopbackModel, Trouble
from harness_executor.providers.script import Script
from harness_executor.store.record import read
from tests.canary import CANARY

PRICES = '[prices."anthropic:endless"]\ninput = 3.0\noutput = 15.0\n'
KILLS = 10


class Endless(Script):
    """An honest planner and verifier, and an executor that always has one more thing to look at."""

    def reply(self, role: str, prompt: str, turn: int) -> Mapping[str, Any]:
        """Another command, for ever."""
        if role != "executor":
            return super().reply(role, prompt, turn)
        command = {"name": "shell", "arguments": {"command": f"echo look {turn}"}}
        return {"calls": [command], "usage": {"fresh": 4000 + 50 * turn, "output": 200}}


def _bill(model: LoopbackModel) -> int:
    """Microdollars the service would ask for, at the prices of the test: every executor's request."""
    asked = [body for body in model.requests if "You are the executor" in json.dumps(body)]
    turns = [sum(message["role"] == "assistant" for message in body["messages"]) for body in asked]
    return sum((4000 + 50 * turn) * 3 + 200 * 15 for turn in turns)


@pytest.fixture
def model() -> Iterator[LoopbackModel]:
    """A model that never comes to an end."""
    with LoopbackModel(Endless(HONEST.lines)) as model:
        yield model


def _run(
    home: Path, model: LoopbackModel, *words: str, fault: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    config = home / ".config" / "harness-executor" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"{PRICES}[caps]\nrespawn = 50\n")
    env = {
        "PATH": f"{Path(sys.executable).parent}:{os.defpath}",
        "HOME": str(home),
        "ANTHROPIC_API_KEY": CANARY,
        "ANTHROPIC_BASE_URL": model.url,
        **({"HARNESS_FAULT": fault} if fault else {}),
        **more,
    }
    return subprocess.run(
        [sys.executable, "-m", "harness_executor", *words],
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def _facts(repo: Path) -> tuple[Path, list[Any]]:
    log = next((repo / "harness" / "tasks").glob("*/events.jsonl")).resolve()
    return log.parent, [record.fact for record in read(log).records]


def test_an_endless_model_is_parked_before_the_cap(sample: Path, home: Path, model: LoopbackModel) -> None:
    """The bill stays under the cap, the task is parked with exit 6, and one command goes on."""
    words = ("run", REQUEST, "--repo", str(sample), "--model", "anthropic:endless")
    ended = _run(home, model, *words, "--max-usd", "0.6", "--json")
    assert ended.returncode == 6, ended.stderr
    shown = json.loads(ended.stdout)
    assert (shown["status"], shown["waiting_for"]) == ("blocked", "budget")
    assert _bill(model) <= 600_000
    assert shown["spent"]["usd"] <= 0.6
    folder, facts = _facts(sample)
    paused = next(fact for fact in facts if isinstance(fact, TaskPaused))
    assert paused.cause is Cause.BUDGET
    assert f"harness resume {folder.name} --max-usd" in paused.hint
    again = _run(home, model, "resume", folder.name, "--repo", str(sample), "--max-usd", "0.9")
    assert again.returncode == 6, again.stderr
    assert "budget of the task is $0.90" in again.stdout
    assert 600_000 < _bill(model) <= 900_000


def test_killing_the_coordinator_refunds_nothing(sample: Path, home: Path, model: LoopbackModel) -> None:
    """Ten kills at any moment, and the bill still stays under the cap."""
    chance = random.Random(20260101)
    words: tuple[str, ...] = ("run", REQUEST, "--model", "anthropic:endless", "--max-usd", "5")
    points = ("log.append.written", "ledger.written", "agent.started")
    for kill in range(KILLS):
        point = points[kill % len(points)]
        number = 1 if point == "agent.started" else chance.randrange(8, 22)
        died = _run(home, model, *words, "--repo", str(sample), fault=f"{point}#{number}=kill")
        assert died.returncode == -9, died.stdout + died.stderr
        folder, _ = _facts(sample)
        words = ("resume", folder.name)
    ended = _run(home, model, *words, "--repo", str(sample))
    assert ended.returncode == 6, ended.stdout + ended.stderr
    assert _bill(model) <= 5_000_000
    _, facts = _facts(sample)
    reserved = [fact for fact in facts if isinstance(fact, CallReserved)]
    charged = [fact for fact in facts if isinstance(fact, CallCharged)]
    assert len(model.requests) <= len(reserved)
    settled = {(fact.job_id, fact.call) for fact in charged}
    left = [fact.micros or 0 for fact in reserved if (fact.job_id, fact.call) not in settled]
    assert sum(fact.micros or 0 for fact in charged) + sum(left) <= 5_000_000


def test_a_log_from_elsewhere_cannot_raise_a_cap(sample: Path, home: Path, tmp_path: Path) -> None:
    """A repository that brings an open task with it is held to the caps of whoever resumes it."""
    with LoopbackModel(HONEST, [Trouble(401), Trouble(401)]) as model:
        run = ("run", REQUEST, "--repo", str(sample), "--model", "anthropic:endless")
        assert _run(home, model, *run, "--max-usd", "5000").returncode == 3
        folder, _ = _facts(sample)
        elsewhere = {"HARNESS_STATE_HOME": str(tmp_path / "another machine")}
        words = ("resume", folder.name, "--repo", str(sample))
        assert _run(home, model, *words, **elsewhere).returncode == 3
        assert _run(home, model, *words).returncode == 0
    caps = [fact.caps for fact in _facts(sample)[1] if isinstance(fact, TaskResumed)]
    assert [cap.micros for cap in caps] == [10_000_000, 10_000_000]


def test_resuming_without_a_key_changes_nothing(sample: Path, home: Path) -> None:
    """A task that waits for its service is not lost by a shell that does not have the key."""
    with LoopbackModel(HONEST, [Trouble(401)]) as model:
        run = ("run", REQUEST, "--repo", str(sample), "--model", "anthropic:endless")
        assert _run(home, model, *run).returncode == 3
        folder, before = _facts(sample)
        words = ("resume", folder.name, "--repo", str(sample))
        ended = _run(home, model, *words, ANTHROPIC_API_KEY="")
        assert ended.returncode == 2
        assert "ANTHROPIC_API_KEY" in ended.stderr
        assert _facts(sample)[1] == before
        assert _run(home, model, *words).returncode == 0
