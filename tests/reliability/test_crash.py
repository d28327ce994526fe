"""The coordinator is killed at every place it can be killed at, and the task still ends as it should."""

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from harness_executor.demo.sample import REQUEST, make_sample
from harness_executor.demo.script import HONEST
from harness_executor.kernel.events import CallCharged
from harness_executor.providers.loopback import LoopbackModel
from harness_executor.store.record import read
from tests.canary import CANARY
from tests.conftest import git
from tests.patience import Patience

PACKAGE = Path(__file__).parent.parent.parent / "harness_executor"
PARTS = 4
ONLY_NOTHING_YET = {"lock.taken#1", "process.started#1"}
"""Killed here, the task was not yet written down: there is nothing to resume, and running again works."""


class Bench:
    """One copy of the sample project, with a home and a scripted model."""

    def __init__(self, folder: Path, template: Path) -> None:
        self.folder = folder
        self.repo = folder / "repo"
        shutil.copytree(template, self.repo, symlinks=True)
        self.script = folder / "script.json"
        self.script.write_text(json.dumps(HONEST.lines))
        self.model = f"scripted:{self.script}"
        self.env = {
            "PATH": f"{Path(sys.executable).parent}:{os.defpath}",
            "HOME": str(folder),
            "HARNESS_WORK_HOME": str(folder / "work"),
            "NO_COLOR": "1",
        }

    def run(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Our command, in this project."""
        return subprocess.run(
            [sys.executable, "-m", "harness_executor", *words, "--repo", str(self.repo)],
            env={**self.env, **env},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def begin(self, **env: str) -> subprocess.CompletedProcess[str]:
        """`harness run` of the demo's request."""
        return self.run("run", REQUEST, "--model", self.model, **env)

    def survivors(self) -> list[str]:
        """Processes that still work in this folder."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or entry.name == str(os.getpid()):
                continue
            with suppress(OSError):
                words = (entry / "cmdline").read_bytes().decode(errors="replace")
                if str(self.folder) in f"{(entry / 'cwd').readlink()} {words}":
                    found.append(words)
        return found

    def nothing_survives(self) -> bool:
        """Does every process of the run go, even on a machine that is busy?"""
        patience = Patience()
        while self.survivors():
            if patience.passed > 5.0:
                return False
            patience.nap()
        return True


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """The sample project, made once."""
    return make_sample(tmp_path / "template")


def discover(bench: Bench) -> list[str]:
    """Every fault point a whole run passes, as name#number."""
    log = bench.folder / "points"
    done = bench.begin(HARNESS_FAULT_LOG=str(log))
    assert done.returncode == 0, done.stderr
    return sorted(log.read_text().split())


def declared() -> set[str]:
    """Every fault point named in the code."""
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "faults.point":
                assert isinstance(node.args[0], ast.Constant)
                found.add(str(node.args[0].value))
    return found


def _unkept(repo: Path) -> str:
    """What is new to the user besides the scenarios that are kept of a completed task."""
    listed = git(repo, "status", "--porcelain").splitlines()
    return "\n".join(line for line in listed if line != "?? harness/scenarios/")


def completes_after(bench: Bench, point: str) -> None:
    """Kill the run at a point, resume it, and look at everything that could have gone wrong."""
    head, status = git(bench.repo, "rev-parse", "HEAD"), git(bench.repo, "status", "--porcelain")
    killed = bench.begin(HARNESS_FAULT=f"{point}=kill")
    assert killed.returncode == -signal.SIGKILL, (
        f"{point}: was not reached ({killed.returncode})\n{killed.stderr}"
    )
    assert bench.nothing_survives(), f"{point}: {bench.survivors()}"
    resumed = bench.run("resume", "--json")
    if point in ONLY_NOTHING_YET:
        assert resumed.returncode == 2
        assert "no task is open" in resumed.stderr
        resumed = bench.run("run", REQUEST, "--model", bench.model, "--json")
    elif resumed.returncode == 2 and "no task is open" in resumed.stderr:
        resumed = finished(bench)
    assert resumed.returncode == 0, f"{point}: {resumed.stdout}\n{resumed.stderr}"
    outcome = json.loads(resumed.stdout)
    task_id = outcome.get("task_id") or outcome["task"]["task_id"]
    assert git(bench.repo, "rev-list", "--count", f"HEAD..harness/{task_id}") == "1", (
        f"{point}: commits doubled"
    )
    charges = charged(bench, task_id)
    assert len(charges) == len(set(charges)), f"{point}: charges doubled"
    assert (git(bench.repo, "rev-parse", "HEAD"), _unkept(bench.repo)) == (head, status)
    assert bench.nothing_survives(), f"{point}: {bench.survivors()}"
    assert not list((bench.folder / "work").glob("*/*")), f"{point}: exported trees were left behind"


def finished(bench: Bench) -> subprocess.CompletedProcess[str]:
    """The one task of the project, already closed when the kill came; resuming it by name tidies up."""
    listed = json.loads(bench.run("list", "--json").stdout)
    assert [row["outcome"] for row in listed] == ["completed"]
    return bench.run("resume", listed[0]["id"], "--json")


def charged(bench: Bench, task_id: str) -> list[tuple[str, int]]:
    """What was charged, by job and call."""
    records = read(bench.repo / "harness" / "tasks" / task_id / "events.jsonl").records
    return [
        (record.fact.job_id, record.fact.call) for record in records if isinstance(record.fact, CallCharged)
    ]


@pytest.mark.crash
@pytest.mark.parametrize("part", range(PARTS))
def test_completes_after_a_kill_at_every_fault_point(part: int, tmp_path: Path, template: Path) -> None:
    """SIGKILL at each point of a run, then `harness resume`: complete, nothing doubled, nothing left."""
    wrong: list[str] = []
    for number, point in enumerate(discover(Bench(tmp_path / "discovery", template))[part::PARTS]):
        folder = tmp_path / f"at-{number}"
        try:
            completes_after(Bench(folder, template), point)
        except AssertionError as error:
            wrong.append(f"{point}: {error}")
        shutil.rmtree(folder)
    assert not wrong, "\n".join(wrong)


def test_every_declared_fault_point_is_reached(tmp_path: Path, template: Path) -> None:
    """A fault point that no run passes would be a promise nobody checks."""
    reached = {point.split("#")[0] for point in discover(Bench(tmp_path / "discovery", template))}
    assert reached == declared()


@pytest.mark.crash
def test_completes_after_kills_on_kills(tmp_path: Path, template: Path) -> None:
    """A kill during the resume after a kill changes nothing either."""
    bench = Bench(tmp_path / "bench", template)
    assert bench.begin(HARNESS_FAULT="git.commit.made#1=kill").returncode == -signal.SIGKILL
    for point in ("lock.taken#1", "log.append.written#1", "git.branch.moved#1", "server.ready#2"):
        assert bench.run("resume", HARNESS_FAULT=f"{point}=kill").returncode == -signal.SIGKILL, point
        assert bench.nothing_survives(), point
    resumed = bench.run("resume", "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert (
        git(bench.repo, "rev-list", "--count", f"HEAD..harness/{json.loads(resumed.stdout)['task_id']}")
        == "1"
    )


@pytest.mark.crash
def test_a_step_that_is_killed_every_time_is_given_up(tmp_path: Path, template: Path) -> None:
    """A crash loop meets the cap: three starts, then the task is closed as failed."""
    bench = Bench(tmp_path / "bench", template)
    assert bench.begin(HARNESS_FAULT="agent.started#1=kill").returncode == -signal.SIGKILL
    for _ in range(2):
        assert bench.run("resume", HARNESS_FAULT="agent.started#1=kill").returncode == -signal.SIGKILL
    ended = bench.run("resume")
    assert ended.returncode == 1
    assert "plan was started 3 times without success" in ended.stdout


@pytest.mark.crash
@pytest.mark.parametrize(
    "point", ["agent.answered#2", "git.commit.made#1", "scenario.run#3", "report.written#1"]
)
def test_completes_after_a_kill_with_the_real_sdk(point: str, tmp_path: Path, template: Path) -> None:
    """Through the real SDK and a model on loopback: every charge is for a request the model really got."""
    bench = Bench(tmp_path / "bench", template)
    with LoopbackModel(HONEST) as model:
        bench.model = "anthropic:scripted"
        bench.env |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": CANARY}
        completes_after(bench, point)
        task_id = json.loads(bench.run("list", "--json").stdout)[0]["id"]
        assert len(charged(bench, task_id)) == len(model.requests)
