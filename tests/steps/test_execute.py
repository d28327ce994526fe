"""A commit that was made before a crash is found again, whatever changed in between."""

import signal
from pathlib import Path

import pytest

from harness_executor.demo.sample import REQUEST
from harness_executor.kernel.events import ChangeMade, PhaseExecuted
from harness_executor.store.record import read
from tests.cli.scripted import HONEST_LINES, write_script
from tests.conftest import Cli, commit_all, git
from tests.workspace.repositories import WHEN, desk_of, head, new_repository, write

TRAILERS = "Harness-Task: t\nHarness-Phase: 1\nHarness-Attempt: 1\n"


def crash(sample: Path, tmp_path: Path, cli: Cli, point: str) -> str:
    """Kill a run at a fault point; gives the branch of its task."""
    model = write_script(tmp_path, HONEST_LINES)
    killed = cli(
        *("run", REQUEST, "--repo", sample, "--model", model), env={"HARNESS_FAULT": f"{point}=kill"}
    )
    assert killed.code == -signal.SIGKILL, killed.err
    return f"harness/{cli('list', '--repo', sample, '--json').json()[0]['id']}"


@pytest.mark.parametrize("point", ["git.commit.made#1", "git.branch.moved#1"])
def test_no_second_commit_after_a_kill_and_another_author(
    point: str, sample: Path, tmp_path: Path, cli: Cli
) -> None:
    """Killed between commit and record, resumed under another name and clock: one commit, of its own time."""
    branch = crash(sample, tmp_path, cli, point)
    made = git(sample, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
    git(sample, "config", "user.name", "Somebody Else")
    git(sample, "config", "user.email", "else@example.com")
    ran = cli("resume", "--repo", sample, "--json", env={"TZ": "Pacific/Auckland"})
    assert ran.code == 0, ran.err
    commit = git(sample, "rev-parse", branch)
    assert git(sample, "rev-list", "--count", f"HEAD..{branch}") == "1"
    facts = [record.fact for record in read(_log(sample, branch)).records]
    assert [fact.commit for fact in facts if isinstance(fact, PhaseExecuted)] == [commit]
    (change,) = (fact for fact in facts if isinstance(fact, ChangeMade))
    assert git(sample, "log", "-1", "--date=iso-strict", "--format=%cd", branch)[:19] == change.at[:19]
    if point.startswith("git.branch.moved"):
        assert commit == made
        assert git(sample, "log", "-1", "--format=%an", branch) == "Demo"


def _log(sample: Path, branch: str) -> Path:
    return sample / "harness" / "tasks" / branch.removeprefix("harness/") / "events.jsonl"


def test_a_commit_of_somebody_else_on_the_branch_is_not_taken(sample: Path, tmp_path: Path, cli: Cli) -> None:
    """A tip with our trailers and another tree is neither adopted nor moved; the task ends and says so."""
    branch = crash(sample, tmp_path, cli, "git.branch.moved#1")
    message = git(sample, "log", "-1", "--format=%B", branch)
    write(sample, {"app.py": "raise SystemExit\n"})
    theirs = commit_all(sample, message)
    git(sample, "branch", "--quiet", "--force", branch, theirs)
    ran = cli("resume", "--repo", sample)
    assert ran.code == 1
    assert "update-ref failed" in ran.out
    assert git(sample, "rev-parse", branch) == theirs


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tree", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
        ("parent", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
        ("trailers", TRAILERS.replace("Attempt: 1", "Attempt: 2")),
        ("trailers", TRAILERS.replace("Phase: 1", "Phase: 2")),
        ("trailers", TRAILERS.replace("Task: t", "Task: u")),
        ("branch", "harness/u"),
    ],
)
def test_a_commit_is_ours_only_in_every_part(tmp_path: Path, field: str, value: str) -> None:
    """Tree, parent, branch and each trailer must fit; the text above them and the author need not."""
    desk = desk_of(new_repository(tmp_path / "repo"))
    parent = desk.repository.resolve("HEAD")
    commit = desk.commit(head(desk), parent, f"Reworded by hand\n\n{TRAILERS}", WHEN)
    desk.repository.move_branch("harness/t", commit, None)
    asked = {"branch": "harness/t", "tree": head(desk), "parent": parent, "trailers": TRAILERS}
    assert desk.made(**asked) == commit
    assert desk.made(**{**asked, field: value}) is None


def test_a_merge_is_no_commit_of_ours(tmp_path: Path) -> None:
    """A commit with our parent and one more is not the one we made."""
    repo = new_repository(tmp_path / "repo")
    desk = desk_of(repo)
    parent = desk.repository.resolve("HEAD")
    write(repo, {"b.txt": "b\n"})
    other = commit_all(repo, "other")
    words = ("-c", "user.name=T", "-c", "user.email=t@example.com", "commit-tree", head(desk))
    merge = git(repo, *words, "-p", parent, "-p", other, "-m", f"Merge\n\n{TRAILERS}")
    git(repo, "branch", "harness/t", merge)
    assert desk.made("harness/t", head(desk), parent, TRAILERS) is None
