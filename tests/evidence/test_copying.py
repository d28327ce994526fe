"""Trees are copied as they are, and nothing is written through a link."""

import os
from pathlib import Path

from harness_executor.evidence.copying import came, clear, copy_tree, lay, look, take


def test_what_is_no_file_is_left_out_of_a_copy(tmp_path: Path) -> None:
    """A pipe would be waited for, and a link stays a link."""
    tree = tmp_path / "tree"
    tree.mkdir()
    os.mkfifo(tree / "pipe")
    (tree / "link").symlink_to("/etc/passwd")
    copy_tree(tree, tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["link"]
    assert (tmp_path / "copy" / "link").is_symlink()


def test_what_came_is_laid_into_another_tree_and_never_through_a_link(tmp_path: Path) -> None:
    """A link in the way of a folder is replaced; what it leads to is left alone."""
    tree, other, outside = (tmp_path / name for name in ("tree", "other", "outside"))
    for folder in (tree, other, outside):
        folder.mkdir()
    before = look(tree)
    (tree / "out").mkdir(mode=0o750)
    (tree / "out" / "file").write_text("made")
    made = came(before, look(tree))
    take(tree, made, tmp_path / "taken")
    (other / "out").symlink_to(outside)
    lay(tmp_path / "taken", made, other, 1_000.0)
    assert (other / "out" / "file").read_text() == "made"
    assert (other / "out").stat().st_mode & 0o777 == 0o750
    assert list(outside.iterdir()) == []


def test_what_went_is_not_removed_through_a_link(tmp_path: Path) -> None:
    """A folder that is a link now keeps what it leads to."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("theirs")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "out").symlink_to(outside)
    clear(("out/file",), tree)
    assert (outside / "file").read_text() == "theirs"


def test_a_file_that_looks_as_before_was_still_written_to(tmp_path: Path) -> None:
    """Size and time can be put back; the time at which they were cannot."""
    path = tmp_path / "file"
    path.write_text("one")
    before, state = look(tmp_path), path.stat()
    path.write_text("two")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert list(came(before, look(tmp_path))) == ["file"]
