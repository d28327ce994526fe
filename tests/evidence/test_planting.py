"""Files of a tree that steps bring and ask about, with links and pipes in the way."""

import os
from pathlib import Path

import pytest

from harness_executor.evidence.planting import MOST, harvest, plant


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An exported tree, with something of the user's beside it."""
    (tmp_path / "secret").write_text("the user's own\n")
    folder = tmp_path / "tree"
    folder.mkdir()
    return folder


def test_files_are_written_with_their_folders(tree: Path) -> None:
    """What was there is replaced and keeps its mode."""
    (tree / "run.sh").write_text("old")
    (tree / "run.sh").chmod(0o755)
    plant(tree, ".", {"a/b/c.txt": "text", "run.sh": "new"})
    assert (tree / "a/b/c.txt").read_text() == "text"
    assert (tree / "run.sh").read_text() == "new"
    assert (tree / "run.sh").stat().st_mode & 0o777 == 0o755


def test_files_lie_where_the_command_runs(tree: Path) -> None:
    """A place is relative to the working folder."""
    plant(tree, "apps/api", {"x.txt": "1"})
    assert (tree / "apps/api/x.txt").read_text() == "1"
    assert harvest(tree, "apps/api", ["x.txt"]) == {"x.txt": "1"}


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "", "a\0b"])
def test_no_name_leads_out_of_the_tree(tree: Path, name: str) -> None:
    """Neither writing nor reading takes such a place."""
    with pytest.raises(LookupError, match="no file of the project"):
        plant(tree, ".", {name: "x"})
    with pytest.raises(LookupError, match="no file of the project"):
        harvest(tree, ".", [name])


def test_a_link_that_a_program_left_is_not_followed_when_writing(tree: Path, tmp_path: Path) -> None:
    """A link in the place of the file is replaced; one on the way to it is refused."""
    (tree / "out").symlink_to(tmp_path / "secret")
    plant(tree, ".", {"out": "new"})
    assert not (tree / "out").is_symlink()
    (tree / "folder").symlink_to(tmp_path)
    with pytest.raises(LookupError, match="cannot be written"):
        plant(tree, ".", {"folder/secret": "new"})
    assert (tmp_path / "secret").read_text() == "the user's own\n"


def test_nothing_outside_is_read_through_a_link(tree: Path, tmp_path: Path) -> None:
    """A link out of the tree counts as nothing; one within it is followed."""
    (tree / "out").symlink_to(tmp_path / "secret")
    (tree / "up").symlink_to("..")
    (tree / "real").write_text("inside")
    (tree / "link").symlink_to("real")
    assert harvest(tree, ".", ["out", "up/secret", "link", "none"]) == {"link": "inside"}


def test_pipes_folders_and_bytes_are_told(tree: Path) -> None:
    """A pipe without an other end holds nobody up."""
    os.mkfifo(tree / "pipe")
    (tree / "folder").mkdir()
    (tree / "folder/b").touch()
    (tree / "folder/a").touch()
    (tree / "bytes").write_bytes(b"\xff\xfe")
    found = harvest(tree, ".", ["pipe", "folder", "bytes"])
    assert found == {
        "pipe": "(neither a file nor a folder)",
        "folder": "a\nb\n",
        "bytes": "base64://4=",
    }


def test_a_huge_file_is_not_compared(tree: Path) -> None:
    """It is named, with the limit."""
    with (tree / "huge").open("wb") as stream:
        stream.truncate(MOST + 1)
    with pytest.raises(LookupError, match=f"huge has more than {MOST} bytes"):
        harvest(tree, ".", ["huge"])
