"""What a repository brings runs under plain git, and never in a whole run of ours."""

import json
import shutil
import signal
from pathlib import Path

import pytest

from harness_executor.demo.sample import REQUEST, make_sample
from tests.cli.scripted import HONEST_LINES, write_script
from tests.cli.test_task_state import SCENARIOS, edit, state
from tests.conftest import Cli, git
from tests.workspace.repositories import fingerprint
from tests.workspace.vectors import VECTORS, Ground, Vector, fire, plant

GROUPS = sorted({vector.group for vector in VECTORS})


def ground_of(folder: Path, *vectors: Vector) -> Ground:
    """The sample project with vectors in it."""
    ground = Ground(make_sample(folder / "repo"), folder / "beside")
    plant(ground, *vectors)
    return ground


def armed(ground: Ground, vectors: list[Vector], spare: Path) -> set[str]:
    """The vectors that run when a user uses plain git in this very repository."""
    shutil.copytree(ground.repo, spare, symlinks=True)
    fired = set()
    for vector in vectors:
        shutil.rmtree(ground.repo)
        shutil.copytree(spare, ground.repo, symlinks=True)
        ground.forget()
        fire(ground, vector)
        fired |= ground.ran() & {vector.name}
    return fired


def test_the_vectors_are_many_and_each_is_its_own() -> None:
    """Sixty ways and more, no two of one name."""
    assert len({vector.name for vector in VECTORS}) == len(VECTORS) >= 60


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)
def test_plain_git_runs_it(tmp_path: Path, vector: Vector) -> None:
    """Alone in a repository, each of them runs its program when a user types an everyday command."""
    ground = ground_of(tmp_path, vector)
    assert ground.ran() == set()
    said = fire(ground, vector)
    assert ground.ran() == {vector.name}, said


@pytest.mark.parametrize("group", GROUPS)
def test_nothing_a_repository_brings_runs_in_a_whole_run(group: int, tmp_path: Path, cli: Cli) -> None:
    """Killed, resumed to the end and shown: complete, no program ran, and all of them still could."""
    vectors = [vector for vector in VECTORS if vector.group == group]
    ground = ground_of(tmp_path, *vectors)
    before = fingerprint(ground.repo)
    model = write_script(tmp_path, HONEST_LINES)
    killed = cli(
        *("run", REQUEST, "--repo", ground.repo, "--model", model),
        env={"HARNESS_FAULT": "git.commit.made#1=kill"},
    )
    assert killed.code == -signal.SIGKILL, killed.err
    assert cli("status", "--repo", ground.repo).code == 0
    ran = cli("resume", "--repo", ground.repo, "--json")
    assert ran.code == 0, ran.err
    outcome = ran.json()
    for words in (("list",), ("show", outcome["task_id"])):
        assert cli(*words, "--repo", ground.repo).code == 0
    assert ground.ran() == set()
    assert outcome["status"] == "completed"
    assert {name: state for name, state in fingerprint(ground.repo).items() if name in before} == before
    assert git(ground.repo, "rev-list", "--count", f"HEAD..{outcome['branch']}") == "1"
    assert armed(ground, vectors, tmp_path / "spare") == {vector.name for vector in vectors}


@pytest.mark.parametrize("group", GROUPS)
def test_nothing_a_repository_brings_runs_when_an_agent_keeps_state(
    group: int, tmp_path: Path, cli: Cli
) -> None:
    """init, an edit by hand, `harness verify`, complete: accepted, and no program ran."""
    vectors = [vector for vector in VECTORS if vector.group == group]
    ground = ground_of(tmp_path, *vectors)
    scenarios = tmp_path / "scenarios.json"
    scenarios.write_text(json.dumps(SCENARIOS))
    assert state(ground.repo, "init", "stats").code == 0
    edit(ground.repo)
    verified = cli("verify", "--scenarios", scenarios, "--repo", ground.repo)
    assert verified.code == 0, verified.err
    done = state(ground.repo, "complete", "--summary", "added stats")
    assert done.code == 0, done.err
    assert ground.ran() == set()
