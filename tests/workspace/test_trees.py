"""Trees and their submodules: listed as they are, left empty, and never changed by a task."""

from pathlib import Path

import pytest

from harness_executor.errors import RepositoryError
from harness_executor.workspace.export import Desk
from harness_executor.workspace.trees import governing, list_tree, submodules
from tests.conftest import commit_all, git
from tests.workspace.repositories import desk_of, head, new_repository, write
from tests.workspace.test_export import work_on


@pytest.fixture
def outer(tmp_path: Path) -> Path:
    """A repository with a submodule that is filled in."""
    inner = new_repository(tmp_path / "inner")
    repo = new_repository(tmp_path / "repo")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner), "sub")
    commit_all(repo, "sub")
    return repo


def test_lists_files_links_and_submodules(outer: Path) -> None:
    """Each entry has its mode, its size and its name; a link is no file, a submodule has no size."""
    write(outer, {"new\nline": "1234"})
    (outer / "link").symlink_to("a.txt")
    commit_all(outer, "more")
    desk = desk_of(outer)
    found = {entry.name: entry for entry in list_tree(desk.git, head(desk))}
    assert set(found) == {".gitmodules", "a.txt", "link", "new\nline", "sub"}
    assert (found["new\nline"].size, found["sub"].size) == (4, 0)
    assert [name for name, entry in sorted(found.items()) if not entry.is_file] == ["link", "sub"]
    assert submodules(found.values()) == {"sub": git(outer / "sub", "rev-parse", "HEAD")}
    assert set(governing(found.values())) == {"sub", ".gitmodules"}


def test_says_which_submodules_are_left_empty(outer: Path) -> None:
    """The user is told by name, and nothing is said where there is none."""
    desk = desk_of(outer)
    assert desk.notes(head(desk)) == ("submodules are left empty: sub",)
    assert desk.notes(desk.repository.tree_of("HEAD~1")) == ()


@pytest.mark.parametrize(
    "how",
    ["a file in it", "a folder of files", "gone", "a link", "a file", "renamed", "unnamed", "renamed url"],
)
def test_a_change_of_a_submodule_is_refused(outer: Path, how: str) -> None:
    """Filling, removing, replacing or renaming a submodule in an exported tree is no change we commit."""
    desk = desk_of(outer)
    folder = work_on(desk)
    assert desk.snapshot(folder, head(desk)) == head(desk)
    _change(folder, how)
    with pytest.raises(RepositoryError, match="a submodule was changed") as caught:
        desk.snapshot(folder, head(desk))
    assert caught.value.hint == "change a submodule in its own repository, and which there are by hand"


def _change(folder: Path, how: str) -> None:
    place = folder / "sub"
    match how:
        case "a file in it":
            write(folder, {"sub/a.txt": "two\n"})
        case "a folder of files":
            write(folder, {"sub/deep/a.txt": "two\n"})
        case "gone":
            place.rmdir()
        case "a link":
            place.rmdir()
            place.symlink_to("a.txt")
        case "a file":
            place.rmdir()
            place.write_text("x")
        case "renamed":
            place.rename(folder / "other")
        case "unnamed":
            (folder / ".gitmodules").unlink()
        case _:
            modules = folder / ".gitmodules"
            modules.write_text(modules.read_text().replace("url = ", "url = ext::"))


def test_a_submodule_of_the_user_that_moved_is_refused(outer: Path) -> None:
    """A submodule at another commit is uncommitted work, and no tree of ours can hold it."""
    desk = desk_of(outer)
    assert not desk.is_dirty()
    write(outer / "sub", {"a.txt": "two\n"})
    commit_all(outer / "sub", "inside")
    assert desk.is_dirty()
    with pytest.raises(RepositoryError, match="sub: a submodule was changed"):
        desk.snapshot(outer, head(desk))
    commit_all(outer, "moved")
    assert not desk.is_dirty()
    assert desk.snapshot(outer, head(desk)) == head(desk)


def test_a_submodule_that_is_not_filled_in_is_no_change(outer: Path, tmp_path: Path) -> None:
    """A fresh clone, whose submodules are empty folders, is clean."""
    git(tmp_path, "clone", "--quiet", str(outer), "clone")
    assert list((tmp_path / "clone" / "sub").iterdir()) == []
    assert not desk_of(tmp_path / "clone").is_dirty()


def test_a_submodule_the_user_removed_is_a_change(outer: Path) -> None:
    """Where the user takes a submodule out, the tree of the working copy has none."""
    desk = desk_of(outer)
    git(outer, "rm", "--quiet", "-f", "sub")
    assert not submodules(list_tree(desk.git, desk.snapshot(outer, head(desk))))


def test_files_a_sparse_checkout_leaves_out_are_not_deleted(tmp_path: Path) -> None:
    """A sparse checkout is clean as it is; an edit in it is not, and what is out of it stays in the tree."""
    repo = new_repository(tmp_path / "repo", {"in/a.txt": "a\n", "out/b.txt": "b\n", "out/ü\n.txt": "c\n"})
    git(repo, "sparse-checkout", "set", "in")
    assert not (repo / "out").exists()
    desk = desk_of(repo)
    assert not desk.is_dirty()
    write(repo, {"in/a.txt": "changed\n"})
    assert desk.is_dirty()
    assert desk.names(head(desk), desk.snapshot(repo, head(desk))) == (("in/a.txt",), ())


def test_a_deleted_file_is_seen_where_no_sparse_checkout_is(desk: Desk) -> None:
    """The bit of a sparse checkout without the setting hides no deletion."""
    root = desk.repository.root
    git(root, "update-index", "--skip-worktree", "a.txt")
    (root / "a.txt").unlink()
    assert desk.is_dirty()
    git(root, "config", "core.sparseCheckout", "true")
    assert not desk.is_dirty()
