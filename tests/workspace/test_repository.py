"""The user's repository: every shape of it is opened or refused by name, and it is left alone."""

import os
from pathlib import Path

import pytest

from harness_executor.errors import RepositoryError
from harness_executor.workspace.export import Desk
from harness_executor.workspace.repository import open_repository
from tests.conftest import commit_all, git
from tests.workspace.repositories import WHEN, desk_of, fingerprint, head, new_repository, round_trip


def test_opens_a_repository_from_any_folder_in_it(repo: Path) -> None:
    """The root is found from below."""
    (repo / "deep" / "er").mkdir(parents=True)
    assert open_repository(repo / "deep" / "er").root == repo


@pytest.mark.parametrize(
    "name", ["with space", "trailing space ", "-dash", "ünïcode", "new\nline", "'quote\""]
)
def test_opens_a_repository_whatever_its_folder_is_called(tmp_path: Path, name: str) -> None:
    """The name of the folder is taken as it is."""
    repo = new_repository(tmp_path / name)
    desk = desk_of(repo)
    assert desk.repository.root == repo
    assert round_trip(desk)[1] == git(repo, "rev-parse", "harness/x")


def test_opens_a_repository_through_a_link(repo: Path, tmp_path: Path) -> None:
    """A link to a repository is the repository."""
    (tmp_path / "link").symlink_to(repo)
    assert open_repository(tmp_path / "link").root == repo


def test_refuses_a_path_that_is_no_folder(repo: Path) -> None:
    """A file, or nothing at all, is not a project."""
    for path in (repo / "a.txt", repo / "nothing"):
        with pytest.raises(RepositoryError, match="is not a folder"):
            open_repository(path)


def test_refuses_a_folder_without_a_repository(tmp_path: Path) -> None:
    """Without git there is nothing to work on, and the hint says how to begin."""
    with pytest.raises(RepositoryError, match="is not in a git repository") as caught:
        open_repository(tmp_path)
    assert "git init" in caught.value.hint


def test_refuses_a_bare_repository(tmp_path: Path) -> None:
    """A repository without a working tree is refused by that name."""
    git(tmp_path, "init", "--quiet", "--bare", "bare")
    with pytest.raises(RepositoryError, match="is a bare repository"):
        open_repository(tmp_path / "bare")


def test_refuses_the_inside_of_a_git_folder(repo: Path) -> None:
    """The folder git keeps for itself is not a project."""
    with pytest.raises(RepositoryError, match="is not in a git repository"):
        open_repository(repo / ".git")


def test_refuses_a_repository_with_no_commit(tmp_path: Path) -> None:
    """An unborn HEAD is refused, and the hint makes the first commit."""
    git(tmp_path, "init", "--quiet")
    with pytest.raises(RepositoryError, match="has no commit yet") as caught:
        open_repository(tmp_path)
    assert "git commit" in caught.value.hint


def test_refuses_settings_that_lead_to_another_folder(repo: Path, tmp_path: Path) -> None:
    """A repository cannot have us work on a project that nobody named, as plain git would."""
    other = new_repository(tmp_path / "other")
    git(repo, "config", "core.worktree", str(other))
    assert git(repo, "rev-parse", "--show-toplevel") == str(other)
    with pytest.raises(RepositoryError, match=r"name .*other as its working tree") as caught:
        open_repository(repo)
    assert "core.worktree" in caught.value.hint


def test_works_on_a_detached_head(repo: Path) -> None:
    """No branch needs to be checked out, and HEAD stays where it is."""
    commit = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "--quiet", "--detach")
    before = fingerprint(repo)
    desk = desk_of(repo)
    _, made = round_trip(desk)
    assert git(repo, "rev-parse", f"{made}^") == commit
    assert fingerprint(repo) == before


def test_works_in_a_linked_worktree(repo: Path, tmp_path: Path) -> None:
    """A linked worktree is its own root and shares its branches with the main one."""
    linked = tmp_path / "linked"
    git(repo, "worktree", "add", "--quiet", "-b", "side", str(linked))
    (linked / "side.txt").write_text("side\n")
    commit_all(linked, "side")
    (repo / ".git" / "info" / "exclude").write_text("private\n")
    before = fingerprint(repo), fingerprint(linked)
    desk = desk_of(linked)
    assert desk.repository.root == linked
    assert "private" in desk.repository.excludes()
    _, made = round_trip(desk)
    assert git(repo, "rev-parse", "harness/x") == made
    assert git(repo, "ls-tree", "--name-only", made).split() == ["a.txt", "added.txt", "side.txt"]
    assert (fingerprint(repo), fingerprint(linked)) == before


@pytest.mark.parametrize("ignored", ["", "sub/\n"])
def test_works_with_a_submodule_that_it_never_touches(tmp_path: Path, ignored: str) -> None:
    """A submodule stays the commit it is: exported empty, never changed, never dirty by itself."""
    inner = new_repository(tmp_path / "inner")
    repo = new_repository(tmp_path / "repo")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner), "sub")
    (repo / ".gitignore").write_text(ignored)
    commit_all(repo, "sub")
    before = fingerprint(repo)
    desk = desk_of(repo)
    assert not desk.is_dirty()
    tree, _ = round_trip(desk)
    assert list((desk.path / "work" / "sub").iterdir()) == []
    assert git(repo, "ls-tree", tree, "sub") == git(repo, "ls-tree", "HEAD", "sub")
    assert fingerprint(repo) == before


def test_works_in_a_sha256_repository(tmp_path: Path) -> None:
    """The other object format works from export to branch."""
    repo = new_repository(tmp_path / "repo", None, "--object-format=sha256")
    before = fingerprint(repo)
    desk = desk_of(repo)
    assert desk.repository.object_format == "sha256"
    _, made = round_trip(desk)
    assert len(made) == 64
    assert git(repo, "rev-parse", "harness/x") == made
    assert fingerprint(repo) == before


def test_works_in_a_shallow_clone(repo: Path, tmp_path: Path) -> None:
    """A clone without history is enough, and stays shallow."""
    (repo / "a.txt").write_text("two\n")
    commit_all(repo, "second")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repo}", "shallow")
    shallow = tmp_path / "shallow"
    before = fingerprint(shallow)
    _, made = round_trip(desk_of(shallow))
    assert git(shallow, "rev-parse", "--is-shallow-repository") == "true"
    assert git(shallow, "log", "--format=%s", made).splitlines() == ["Add a file", "second"]
    assert fingerprint(shallow) == before


def test_works_while_git_is_busy_in_the_repository(repo: Path) -> None:
    """A held index and a merge under way are neither used nor disturbed."""
    (repo / ".git" / "index.lock").touch()
    (repo / ".git" / "MERGE_HEAD").write_text(git(repo, "rev-parse", "HEAD") + "\n")
    before = fingerprint(repo)
    round_trip(desk_of(repo))
    assert fingerprint(repo) == before


def test_leaves_a_dirty_working_tree_alone(repo: Path) -> None:
    """Staged, changed and unknown files stay as they are, byte for byte, and do not enter the commit."""
    (repo / "staged.txt").write_text("staged\n")
    git(repo, "add", "staged.txt")
    (repo / "a.txt").write_text("changed\n")
    (repo / "unknown.txt").write_text("unknown\n")
    before = fingerprint(repo)
    desk = desk_of(repo)
    _, made = round_trip(desk)
    assert fingerprint(repo) == before
    assert git(repo, "ls-tree", "--name-only", made).split() == ["a.txt", "added.txt"]
    assert git(repo, "show", f"{made}:a.txt") == "one"


def test_resolves_names_of_commits(repo: Path) -> None:
    """Branches, tags, short ids and HEAD are commits; anything else is refused."""
    commit = git(repo, "rev-parse", "HEAD")
    git(repo, "-c", "user.name=T", "-c", "user.email=t@example.com", "tag", "-a", "v1", "-m", "v1")
    repository = open_repository(repo)
    for name in ("HEAD", "main", "v1", commit[:8], "refs/heads/main"):
        assert repository.resolve(name) == commit
    for name in ("nothing", "", "HEAD:a.txt", "HEAD^{tree}", "main..main"):
        with pytest.raises(RepositoryError, match="is not a commit"):
            repository.resolve(name)


@pytest.mark.parametrize("name", ["--upload-pack=touch x", "-h", "--git-dir", "--"])
def test_a_name_that_looks_like_an_option_is_refused(repo: Path, name: str) -> None:
    """No name a user gives becomes an option of git."""
    with pytest.raises(RepositoryError, match="is not a commit"):
        open_repository(repo).resolve(name)


def test_replaced_objects_are_seen_as_they_are(repo: Path) -> None:
    """A replacement ref cannot pass another tree off as the base."""
    first = git(repo, "rev-parse", "HEAD")
    true_tree = git(repo, "rev-parse", "HEAD^{tree}")
    (repo / "a.txt").write_text("another\n")
    git(repo, "replace", first, commit_all(repo, "another"))
    assert git(repo, "rev-parse", f"{first}^{{tree}}") != true_tree
    assert open_repository(repo).tree_of(first) == true_tree


def test_refuses_a_damaged_object(repo: Path, desk: Desk) -> None:
    """A file whose object is damaged is an error with the words of git, not an empty file."""
    blob = git(repo, "rev-parse", "HEAD:a.txt")
    path = repo / ".git" / "objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    path.write_bytes(b"damaged")
    with pytest.raises(RepositoryError, match=blob):
        desk.export(head(desk), desk.path / "work")


def test_the_author_is_who_the_repository_says(repo: Path) -> None:
    """The name and address of the repository are used, or ours when it has none."""
    assert open_repository(repo).author() == ("harness-executor", "harness-executor@localhost")
    git(repo, "config", "user.name", "Ann Ünal")
    git(repo, "config", "user.email", "ann@example.com")
    assert open_repository(repo).author() == ("Ann Ünal", "ann@example.com")


def test_moves_a_branch_only_from_where_it_was_left(repo: Path, desk: Desk) -> None:
    """A branch that somebody else moved is not moved, and says so."""
    _, first = round_trip(desk)
    second = desk.commit(head(desk), first, "second", WHEN)
    theirs = desk.commit(head(desk), first, "theirs", WHEN)
    git(repo, "branch", "--force", "harness/x", theirs)
    with pytest.raises(RepositoryError, match="update-ref failed"):
        desk.repository.move_branch("harness/x", second, first)
    with pytest.raises(RepositoryError, match="update-ref failed"):
        desk.repository.move_branch("harness/x", second, None)
    assert desk.repository.tip("harness/x") == theirs


def test_moving_a_branch_again_is_no_error(desk: Desk) -> None:
    """A branch that is already there stays there, whatever was expected."""
    _, first = round_trip(desk)
    desk.repository.move_branch("harness/x", first, None)
    second = desk.commit(head(desk), first, "second", WHEN)
    desk.repository.move_branch("harness/x", second, first)
    desk.repository.move_branch("harness/x", second, first)
    assert desk.repository.tip("harness/x") == second


def test_a_branch_in_the_way_is_named(repo: Path) -> None:
    """A branch called `harness` makes ours impossible; the refusal names it and how to rename it."""
    repository = open_repository(repo)
    repository.check_branch("harness/x")
    git(repo, "branch", "harness")
    with pytest.raises(RepositoryError, match="the branch 'harness' exists") as caught:
        repository.check_branch("harness/x")
    assert "git branch -m harness harness-old" in caught.value.hint


def test_reads_what_the_user_excludes(repo: Path) -> None:
    """Private patterns are read, also when they are no UTF-8 or not there."""
    path = repo / ".git" / "info" / "exclude"
    path.write_bytes(b"secret\xff\n")
    assert open_repository(repo).excludes() == "secret\N{REPLACEMENT CHARACTER}\n"
    path.unlink()
    assert open_repository(repo).excludes() == ""


def test_a10_git_is_not_taken_from_the_project_of_a_subfolder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Started in a folder of a project, no program of the project is taken for git."""
    repo = new_repository(tmp_path / "repo", {"src/a.txt": "a\n"})
    fake = repo / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    assert open_repository(repo / "src").root == repo
    assert not (tmp_path / "ran").exists()
