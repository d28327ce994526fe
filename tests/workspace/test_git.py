"""Git as the harness runs it: deaf to the environment, and running nothing a repository brings."""

import os
import shutil
from pathlib import Path

import pytest

from harness_executor.errors import RepositoryError
from harness_executor.workspace.git import find_git, user_git
from harness_executor.workspace.repository import open_repository
from tests.conftest import git
from tests.workspace.repositories import desk_of, fingerprint, new_repository, round_trip
from tests.workspace.vectors import BY_NAME, Ground, plant


def test_gives_output_without_the_end_of_its_line(repo: Path) -> None:
    """Only the last end of line is taken off; spaces may be part of a name."""
    git_program = user_git(repo)
    git(repo, "config", "a.b", "two words")
    assert git_program.text("-C", str(repo), "config", "a.b") == "two words"
    assert git_program.ask("-C", str(repo), "config", "a.b") == "two words"
    assert git_program.run("-C", str(repo), "config", "a.b") == b"two words\n"


def test_a_failure_has_the_words_of_git(repo: Path) -> None:
    """What git says about a failure is passed on, with what was tried."""
    with pytest.raises(
        RepositoryError, match="cat-file failed: fatal: Not a valid object name nothing"
    ) as caught:
        user_git(repo).run("cat-file", "-p", "nothing", extra={"GIT_DIR": str(repo / ".git")})
    assert "git fsck" in caught.value.hint


def test_what_is_known_of_an_object_is_not_asked_again(repo: Path) -> None:
    """Objects never change: the answer is kept, and is there even when the object is gone."""
    desk = desk_of(repo)
    tree = desk.repository.tree_of("HEAD")
    first = desk.git.once("cat-file", "-p", tree)
    shutil.rmtree(repo / ".git" / "objects" / tree[:2])
    assert desk.git.once("cat-file", "-p", tree) == first
    with pytest.raises(RepositoryError):
        desk.git.run("cat-file", "-p", tree)


def test_a_no_is_nothing(repo: Path) -> None:
    """A question that git denies has no answer."""
    assert user_git(repo).ask("-C", str(repo), "config", "no.such") is None


def test_a_missing_git_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git the hint is to install it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RepositoryError, match="git was not found"):
        find_git(tmp_path / "project")


def test_a_git_inside_the_project_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project cannot bring its own git, not even through a relative PATH."""
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexit 0\n")
    fake.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{fake.parent}:bin:.::{os.environ['PATH']}")
    assert shutil.which("git") == str(fake)
    assert find_git(tmp_path) != str(fake)


def test_the_environment_cannot_lead_git_elsewhere(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables that name another repository, index or setting change nothing."""
    other = new_repository(tmp_path / "other", {"other.txt": "other\n"})
    marker = tmp_path / "ran"
    variables = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / ".git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git" / "objects"),
        "GIT_NAMESPACE": "elsewhere",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": f"touch '{marker}'",
        "GIT_EXTERNAL_DIFF": f"touch '{marker}'",
        "GIT_SSH_COMMAND": f"touch '{marker}'",
        "GIT_PAGER": f"touch '{marker}'",
        "GIT_AUTHOR_NAME": "Somebody Else",
    }
    theirs = fingerprint(other)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    desk = desk_of(repo)
    tree, commit = round_trip(desk)
    for name in variables:
        monkeypatch.delenv(name)
    assert desk.repository.root == repo
    assert git(repo, "ls-tree", "--name-only", tree).split() == ["a.txt", "added.txt"]
    assert "Somebody Else" not in git(repo, "cat-file", "-p", commit)
    assert fingerprint(other) == theirs
    assert not marker.exists()


def test_a_promised_object_is_not_fetched(tmp_path: Path) -> None:
    """An object that is missing and promised by a remote runs no transport of that remote."""
    ground = Ground(new_repository(tmp_path / "repo"), tmp_path)
    plant(ground, BY_NAME["promised-objects"])
    for file in (ground.repo / ".git" / "objects").glob("??/*"):
        file.unlink()
    with pytest.raises(RepositoryError):
        open_repository(ground.repo)
    assert ground.ran() == set()
    _try(ground.repo, "cat-file", "-p", "HEAD")
    assert ground.ran() == {"promised-objects"}


def test_a_hostile_submodule_of_the_user_is_not_looked_into(tmp_path: Path) -> None:
    """Whether the working tree is dirty is found out without running git in a submodule."""
    ground = Ground(new_repository(tmp_path / "repo"), tmp_path)
    plant(ground, BY_NAME["fsmonitor-of-a-submodule"])
    (ground.repo / "vectors" / "nested" / "a.txt").write_text("two\n")
    assert not desk_of(ground.repo).is_dirty()
    assert ground.ran() == set()
    _try(ground.repo, "status")
    assert ground.ran() == {"fsmonitor-of-a-submodule"}


def _try(repo: Path, *words: str) -> None:
    """Plain git, whatever comes of it."""
    import subprocess

    subprocess.run(
        ["git", "-C", str(repo), "-c", "user.name=T", "-c", "user.email=t@example.com", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
    )
