"""Notes: added to what is there, as git reads them, by several at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness_executor.clock import new_id
from harness_executor.errors import RepositoryError
from harness_executor.workspace.notes import REF, Notes
from harness_executor.workspace.repository import open_repository
from tests.conftest import commit_all, git


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one commit."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    (root / "a").write_text("a")
    commit_all(root, "one")
    return root


def notes(repo: Path) -> Notes:
    """The notes of a repository."""
    return Notes(open_repository(repo), repo.parent / "scratch" / new_id())


def test_a_note_is_one_that_git_shows(repo: Path) -> None:
    """Lines are added to a note, each once, and what others wrote there stays."""
    head = git(repo, "rev-parse", "HEAD")
    git(repo, "-c", "user.name=T", "-c", "user.email=t@e.x", "notes", "--ref=harness", "add", "-m", "theirs")
    notes(repo).add(head, "one\n")
    notes(repo).add(head, "two\n")
    notes(repo).add(head, "one\n")
    assert git(repo, "notes", "--ref=harness", "show", head).split() == ["theirs", "one", "two"]
    assert notes(repo).read("0" * 40) == b""


def test_notes_that_git_spread_over_folders_are_found(repo: Path) -> None:
    """A note in a folder is added to where it lies, and not doubled."""
    head = git(repo, "rev-parse", "HEAD")
    notes(repo).add(head, "one\n")
    blob = git(repo, "rev-parse", f"{REF}:{head}")
    git(repo, "update-ref", REF, _spread(repo, head, blob))
    notes(repo).add(head, "two\n")
    assert notes(repo).read(head) == b"one\ntwo\n"
    assert git(repo, "ls-tree", "-r", "--name-only", REF) == f"{head[:2]}/{head[2:]}"


def _spread(repo: Path, head: str, blob: str) -> str:
    index = {"GIT_INDEX_FILE": str(repo.parent / "other.index")}
    plumbing = open_repository(repo).git
    place = f"100644,{blob},{head[:2]}/{head[2:]}"
    plumbing.run("-C", str(repo), "update-index", "--add", "--cacheinfo", place, extra=index)
    tree = plumbing.text("-C", str(repo), "write-tree", extra=index)
    return git(repo, "-c", "user.name=T", "-c", "user.email=t@e.x", "commit-tree", "-m", "spread", tree)


def test_nobody_loses_a_note(repo: Path) -> None:
    """Several writers at once: every line is there afterwards."""
    head = git(repo, "rev-parse", "HEAD")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: notes(repo).add(head, f"{number}\n"), range(8)))
    assert sorted(notes(repo).read(head).split()) == sorted(str(number).encode() for number in range(8))


def test_only_objects_have_notes(repo: Path) -> None:
    """A name that could be a path or an option is refused."""
    for name in ("HEAD", "-x", "../a", ""):
        with pytest.raises(RepositoryError):
            notes(repo).add(name, "x\n")
