"""Git-lfs pointers: exported as they are, said once, and no reason to call a working tree dirty."""

import hashlib
from pathlib import Path

import pytest

from harness_executor.demo.sample import REQUEST, make_sample
from harness_executor.workspace.pointers import find_pointers
from harness_executor.workspace.trees import list_tree
from tests.cli.scripted import HONEST_LINES, write_script
from tests.conftest import Cli, commit_all, git
from tests.workspace.repositories import contents, desk_of, head, new_repository, write
from tests.workspace.test_export import work_on

REAL = b"\x89PNG and then some\n" * 4000


def pointer_to(content: bytes) -> bytes:
    """What git-lfs keeps in the repository for a file."""
    digest = hashlib.sha256(content).hexdigest()
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"
    return text.encode()


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    """A repository whose pictures are kept by git-lfs, with the pictures in the working tree."""
    files = {".gitattributes": "*.png filter=lfs diff=lfs merge=lfs -text\n", "a.txt": "one\n"}
    repo = new_repository(
        tmp_path / "repo", {**files, "p/a.png": pointer_to(REAL), "p/b\n.png": pointer_to(b"tiny")}
    )
    write(repo, {"p/a.png": REAL, "p/b\n.png": b"tiny"})
    return repo


def test_pointers_are_told_by_what_they_say(tmp_path: Path) -> None:
    """Digest and size are read; a text that only resembles a pointer is none."""
    near = b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n"
    repo = new_repository(
        tmp_path / "repo",
        {
            "a.png": pointer_to(REAL),
            "short.png": near,
            "long.png": pointer_to(REAL) + b"x" * 1024,
            "b.txt": "b",
        },
    )
    desk = desk_of(repo)
    (found,) = find_pointers(desk.git, list_tree(desk.git, head(desk)))
    assert found.entry.name == "a.png"
    assert (found.digest, found.size) == (hashlib.sha256(REAL).hexdigest(), len(REAL))


def test_a_pointer_is_exported_as_the_pointer_it_is(drawn: Path, tmp_path: Path) -> None:
    """No filter fills it in, though the repository names one that plain git would run."""
    ran = tmp_path / "ran"
    for key in ("smudge", "clean"):
        git(drawn, "config", f"filter.lfs.{key}", f"echo {key} >> '{ran}'; cat")
    desk = desk_of(drawn)
    folder = work_on(desk)
    assert contents(folder)[b"p/a.png"] == pointer_to(REAL)
    assert desk.snapshot(folder, head(desk)) == head(desk)
    assert not desk.is_dirty()
    assert not ran.exists()
    (drawn / "p" / "a.png").unlink()
    git(drawn, "checkout", "--", "p/a.png")
    assert "smudge" in ran.read_text()


def test_the_real_files_do_not_make_the_working_tree_dirty(drawn: Path) -> None:
    """A working tree that git-lfs filled in is clean, whatever the filter would say."""
    assert git(drawn, "status", "--porcelain") != ""
    assert not desk_of(drawn).is_dirty()


def test_a_changed_asset_is_a_changed_pointer(drawn: Path) -> None:
    """What the user drew anew is told, and the tree has the pointer that git-lfs would write for it."""
    desk = desk_of(drawn)
    write(drawn, {"p/a.png": REAL[::-1]})
    assert desk.is_dirty()
    tree = desk.snapshot(drawn, head(desk))
    assert desk.names(head(desk), tree) == (("p/a.png",), ())
    assert git(drawn, "cat-file", "blob", f"{tree}:p/a.png") == pointer_to(REAL[::-1]).decode().strip()


@pytest.mark.parametrize("gone", ["p/a.png", "a.txt"])
def test_a_deleted_file_is_deleted(drawn: Path, gone: str) -> None:
    """An asset that is not there is a deletion like any other."""
    desk = desk_of(drawn)
    (drawn / gone).unlink()
    assert desk.names(head(desk), desk.snapshot(drawn, head(desk))) == ((gone,), ())


def test_a_file_taken_out_of_lfs_is_the_file_itself(drawn: Path) -> None:
    """Where the project no longer gives a file to git-lfs, its content is what is tracked."""
    desk = desk_of(drawn)
    write(drawn, {".gitattributes": "*.txt text\n"})
    tree = desk.snapshot(drawn, head(desk))
    assert desk.names(head(desk), tree)[0] == (".gitattributes", "p/a.png", "p/b\n.png")
    assert git(drawn, "cat-file", "-s", f"{tree}:p/a.png") == str(len(REAL))


def test_pointers_that_git_lfs_did_not_fill_in_are_clean(drawn: Path) -> None:
    """A clone without git-lfs, which has the pointers themselves, is clean as well."""
    write(drawn, {"p/a.png": pointer_to(REAL), "p/b\n.png": pointer_to(b"tiny")})
    assert not desk_of(drawn).is_dirty()


def test_says_once_which_files_are_pointers(tmp_path: Path, cli: Cli) -> None:
    """A run tells the user why an asset is missing, at most five by name, and completes."""
    sample = make_sample(tmp_path / "todo-api")
    write(sample, {".gitattributes": "*.png filter=lfs\n"})
    write(sample, {f"{number}.png": pointer_to(b"%d" % number) for number in range(7)})
    commit_all(sample, "pictures")
    write(sample, {f"{number}.png": b"%d" % number for number in range(7)})
    model = write_script(tmp_path, HONEST_LINES)
    ran = cli("run", REQUEST, "--repo", sample, "--model", model)
    assert ran.code == 0, ran.err
    note = "git-lfs pointers stay pointers, without their files: 0.png, 1.png, 2.png, 3.png, 4.png and 2 more"
    assert ran.err.count(note) == 1
    assert "not committed" not in ran.err
