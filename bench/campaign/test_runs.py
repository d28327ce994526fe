"""Whole runs with a real model that cannot do the work: none of them is ever complete."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.campaign.serving import PATHS, Server, Way
from bench.campaign.smol import WINDOW
from harness_executor.demo.sample import REQUEST
from harness_executor.kernel.events import CallCharged, Fact, GateJudged, TaskClosed
from harness_executor.providers.base import Request, Said
from harness_executor.store.record import read
from tests.cli.scripted import HONEST_LINES, submit, with_executor, write_script
from tests.conftest import git

CAPS = "[caps]\nrespawn = 0\nvalidation = 0\nverification = 0\n"
"""Nobody is sent back to work: once is enough to be refused."""
SECONDS = 1200.0
CLAIM = {
    "type": "object",
    "properties": {
        "status": {"type": "string", "enum": ["success"]},
        "summary": {"type": "string", "minLength": 10, "maxLength": 200},
    },
    "required": ["status", "summary"],
    "additionalProperties": False,
}
"""What the model is held to when it shall say that it is done."""


@dataclass(frozen=True)
class Bench:
    """A repository, a home, and a config that names the model."""

    repo: Path
    home: Path

    def configure(self, server: Server, api: str, **models: str) -> None:
        """Write the user's own config."""
        chosen = {"default": "smol:smol", **models}
        lines = [
            "[models]",
            *(f"{role} = {json.dumps(model)}" for role, model in chosen.items()),
            "[providers.smol]",
            f'base_url = "{server.base_url(api)}"',
            f'api = "{api}"',
            f"window = {WINDOW}",
        ]
        (self.home / "config.toml").write_text("\n".join([*lines, CAPS]))

    def run(self) -> tuple[int, Any]:
        """`harness run` of the sample's request, to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "harness_executor", "run", REQUEST, "--repo", str(self.repo), "--json"],
            env={**os.environ, "HOME": str(self.home), "HARNESS_CONFIG_HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    def facts(self) -> list[Fact]:
        """What the log of the only task says."""
        (log,) = (self.repo / "harness" / "tasks").glob("*/events.jsonl")
        return [record.fact for record in read(log).records]

    def nothing_is_left(self) -> bool:
        """Is every process of the run gone, even on a machine that is busy?"""
        end = time.monotonic() + 15.0
        while self._processes() and time.monotonic() < end:
            time.sleep(0.05)
        return not self._processes()

    def _processes(self) -> set[str]:
        wanted = b"HOME=" + os.fsencode(self.home)
        found = set()
        for process in Path("/proc").iterdir():
            with suppress(OSError):
                if process.name.isdigit() and wanted in (process / "environ").read_bytes().split(b"\0"):
                    found.add(process.name)
        return found


@pytest.fixture
def bench(sample: Path, home: Path) -> Bench:
    """The sample project, before anybody worked on it."""
    return Bench(sample, home)


def _is_not_complete(bench: Bench, code: int, outcome: Any) -> None:
    """Refused or failed, in every place that tells it, and the project is as it was."""
    facts = bench.facts()
    assert (code, outcome["status"]) in [(1, "failed"), (4, "refused")], outcome
    assert [fact.status.value for fact in facts if isinstance(fact, TaskClosed)] == [outcome["status"]]
    assert not any(fact.accepted for fact in facts if isinstance(fact, GateJudged))
    assert git(bench.repo, "branch", "--list", "harness/*") == ""
    assert git(bench.repo, "status", "--porcelain") == ""
    assert git(bench.repo, "rev-list", "--count", "HEAD") == "1"
    assert bench.nothing_is_left()


@pytest.mark.parametrize("api", PATHS)
def test_a_run_of_nonsense_is_not_complete(bench: Bench, server: Server, api: str) -> None:
    """A model that cannot plan ends the run with a failure that says so, and what it used is counted."""
    bench.configure(server, api)
    code, outcome = bench.run()
    _is_not_complete(bench, code, outcome)
    assert outcome["summary"]
    charged = [fact for fact in bench.facts() if isinstance(fact, CallCharged) and not fact.failed]
    assert charged
    assert all(fact.input_tokens > 100 and fact.output_tokens > 0 for fact in charged)


@pytest.mark.parametrize("api", PATHS)
def test_an_executor_of_nonsense_is_not_complete(
    bench: Bench, server: Server, tmp_path: Path, api: str
) -> None:
    """With an honest plan and honest scenarios, an executor that only talks completes nothing."""
    script = write_script(tmp_path, HONEST_LINES)
    bench.configure(server, api, planner=script, verifier=script)
    code, outcome = bench.run()
    _is_not_complete(bench, code, outcome)
    assert outcome["plan"]


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_a_claim_of_nonsense_is_refused_by_the_gate(
    bench: Bench, server: Server, tmp_path: Path, api: str
) -> None:
    """What the model says when it is held to claim success, handed over as a result, is refused."""
    asked = Request("executor", "smol", "You are the executor.", (Said(REQUEST),), (), 400, CLAIM)
    claim = json.loads(Way(api, stream=True).connect(server).complete(asked).text)
    assert claim["status"] == "success"
    script = write_script(tmp_path, with_executor({"replies": [submit(claim)]}))
    bench.configure(server, api, default=script)
    code, outcome = bench.run()
    _is_not_complete(bench, code, outcome)
    assert code == 4
    assert "no scenario failed before and passes now" in outcome["reasons"]
