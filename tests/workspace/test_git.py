"""Git as the harness runs it: deaf to the environment, and running nothing a repository brings."""

import os
import shutil
from pathlib import Path

import pytest

from harness_executor.errors import RepositoryError
from harness_executor.workspace.git import find_git, user_git
from harness_executor.workspace.repository import open_repository
from tests.conftest import git
from tests.workspace.repositories import WHEN, desk_of, fingerprint, head, new_repository, round_trip
from tests.workspace.traps import HOOKS, lay_traps, sprung


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


def test_nothing_a_repository_brings_is_run(tmp_path: Path) -> None:
    """No hook, filter, monitor, driver, alias or helper of the user's repository runs in a whole task."""
    repo = new_repository(tmp_path / "repo", {"a.one": "one\n", "b.two": "two\n", "c.txt": "three\n"})
    ran = lay_traps(repo, tmp_path)
    before = fingerprint(repo)
    desk = desk_of(repo)
    _, commit = round_trip(desk)
    second = desk.commit(head(desk), commit, "Back again\n", WHEN)
    desk.repository.move_branch("harness/x", second, commit)
    assert sprung(ran) == set()
    assert fingerprint(repo) == before


def test_plain_git_does_run_what_a_repository_brings(tmp_path: Path) -> None:
    """The same traps do spring under plain git, so that the test above means something."""
    repo = new_repository(tmp_path / "repo", {"a.one": "one\n", "c.txt": "three\n"})
    ran = lay_traps(repo, tmp_path)
    for name in ("a.one", "c.txt"):
        (repo / name).write_text("changed\n")
    for words in (
        ("status",),
        ("diff",),
        ("add", "a.one", "c.txt"),
        ("commit", "--no-gpg-sign", "-m", "x"),
        ("log", "--patch", "-1"),
        ("trapped",),
        ("included",),
        ("fetch", "origin"),
    ):
        _try(repo, *words)
    (repo / "b.two").write_text("changed\n")
    _try(repo, "add", "b.two")
    expected = {"fsmonitor", "clean", "process", "external", "textconv", "alias", "included", "ext", *HOOKS}
    assert expected <= sprung(ran)


def test_a_promised_object_is_not_fetched(tmp_path: Path) -> None:
    """An object that is missing and promised by a remote runs no transport of that remote."""
    repo = new_repository(tmp_path / "repo")
    ran = lay_traps(repo, tmp_path)
    for key, value in {"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin"}.items():
        _try(repo, "config", key, value)
    _try(repo, "config", "remote.origin.promisor", "true")
    for file in (path for path in (repo / ".git" / "objects").glob("??/*")):
        file.unlink()
    with pytest.raises(RepositoryError):
        open_repository(repo)
    assert sprung(ran) == set()
    _try(repo, "cat-file", "-p", "HEAD")
    assert "ext" in sprung(ran)


def test_a_hostile_submodule_of_the_user_is_not_looked_into(tmp_path: Path) -> None:
    """Whether the working tree is dirty is found out without running git in a submodule."""
    inner = new_repository(tmp_path / "inner", {"a.one": "one\n"})
    repo = new_repository(tmp_path / "repo")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner), "sub")
    git(repo, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-qm", "sub")
    ran = lay_traps(repo / "sub", tmp_path)
    git(repo, "add", "sub")
    git(repo, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-qm", "moved")
    (repo / "sub" / "a.one").write_text("two\n")
    (ran / "clean").unlink(missing_ok=True)
    assert not desk_of(repo).is_dirty()
    assert "clean" not in sprung(ran)
    _try(repo, "-c", "core.fsmonitor=false", "status")
    assert "clean" in sprung(ran)


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
