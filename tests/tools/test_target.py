"""A file that is going to be written: its folder is held, and no link is followed to it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness_executor.tools.base import Place, ToolError
from harness_executor.tools.files import reading_tools, writing_tools
from harness_executor.tools.target import aimed


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a file, next to a state that is not in it."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text("old\n")
    (tmp_path / "state").write_text("true\n")
    return tmp_path / "tree"


def _place(tree: Path) -> Place:
    return Place(tree, tree.parent / "output")


def test_a29_a_hard_link_is_not_written_to(tree: Path) -> None:
    """A second name of a file outside is refused by both tools; a plain write would change that file."""
    os.link(tree.parent / "state", tree / "link")
    write, edit = writing_tools(_place(tree))
    with pytest.raises(ToolError, match="link is a hard link, one of 2; remove it, then write it anew"):
        write.use({"path": "link", "content": "forged\n"})
    with pytest.raises(ToolError, match="link is a hard link, one of 2"):
        edit.use({"path": "link", "old": "true", "new": "forged"})
    assert (tree.parent / "state").read_text() == "true\n"
    (tree / "link").write_text("forged\n")
    assert (tree.parent / "state").read_text() == "forged\n"


def test_a29_a_file_that_was_a_hard_link_is_written_after_it_was_removed(tree: Path) -> None:
    """What the refusal says to do leads on, and the file outside stays."""
    os.link(tree.parent / "state", tree / "link")
    (tree / "link").unlink()
    writing_tools(_place(tree))[0].use({"path": "link", "content": "new\n"})
    assert ((tree / "link").read_text(), (tree.parent / "state").read_text()) == ("new\n", "true\n")


def test_a29_a_second_name_that_comes_late_keeps_the_old_bytes(tree: Path) -> None:
    """A file that gets a name outside after it was looked at is not changed under that name."""
    with aimed(_place(tree), "a.py") as target:
        os.link(tree / "a.py", tree.parent / "late")
        target.replace(b"new\n")
    assert ((tree / "a.py").read_text(), (tree.parent / "late").read_text()) == ("new\n", "old\n")
    with (tree / "a.py").open("r+") as stream:
        os.link(tree / "a.py", tree.parent / "later")
        stream.write("own\n")
    assert (tree.parent / "later").read_text() == "own\n"


def test_a28_a_file_that_becomes_a_link_is_replaced_and_not_followed(tree: Path) -> None:
    """A link that appears after the file was looked at is itself replaced; a plain write would follow it."""
    place = _place(tree)
    with aimed(place, "a.py") as target:
        (tree / "a.py").unlink()
        (tree / "a.py").symlink_to("../state")
        target.replace(b"forged\n")
    assert (tree.parent / "state").read_text() == "true\n"
    assert not (tree / "a.py").is_symlink()
    (tree / "b.py").symlink_to("../state")
    (tree / "b.py").write_text("forged\n")
    assert (tree.parent / "state").read_text() == "forged\n"


def test_a28_a_folder_that_is_moved_away_stays_the_one_that_was_opened(tree: Path) -> None:
    """A link that takes the name of the folder meanwhile does not get the file."""
    (tree / "src").mkdir()
    (tree.parent / "outside").mkdir()
    with aimed(_place(tree), "src/new.py") as target:
        (tree / "src").rename(tree / "moved")
        (tree / "src").symlink_to("../outside")
        target.replace(b"new\n")
    assert list((tree.parent / "outside").iterdir()) == []
    assert (tree / "moved" / "new.py").read_text() == "new\n"
    (tree / "src" / "new.py").write_text("new\n")
    assert (tree.parent / "outside" / "new.py").exists()


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o640])
def test_the_mode_is_kept_and_no_draft_is_left(tree: Path, mode: int) -> None:
    """The new file has the mode of the old one, and is the only one."""
    (tree / "a.py").chmod(mode)
    writing_tools(_place(tree))[0].use({"path": "a.py", "content": "new\n"})
    assert (tree / "a.py").stat().st_mode & 0o7777 == mode
    assert [path.name for path in tree.iterdir()] == ["a.py"]


def test_a_new_file_has_the_mode_of_the_users_mask(tree: Path) -> None:
    """A file that was not there is made like any other."""
    mask = os.umask(0o027)
    try:
        writing_tools(_place(tree))[0].use({"path": "new/b.py", "content": "x\n"})
    finally:
        os.umask(mask)
    assert (tree / "new" / "b.py").stat().st_mode & 0o777 == 0o640
    assert (tree / "new").stat().st_mode & 0o777 == 0o750


def test_a_write_that_fails_leaves_the_old_file(tree: Path) -> None:
    """What cannot be finished changes nothing, and no draft is left."""
    with aimed(_place(tree), "b.py") as target:
        (tree / "b.py").mkdir()
        with pytest.raises(IsADirectoryError):
            target.replace(b"new\n")
    assert sorted(path.name for path in tree.iterdir()) == ["a.py", "b.py"]


def test_drafts_of_others_do_not_hold_it_up(tree: Path) -> None:
    """A name that is taken is passed over; when all of them are, the model is told."""
    write = writing_tools(_place(tree))[0]
    (tree / f".harness-{os.getpid()}-0.draft").symlink_to("../state")
    write.use({"path": "a.py", "content": "new\n"})
    for number in range(1, 100):
        (tree / f".harness-{os.getpid()}-{number}.draft").touch()
    with pytest.raises(ToolError, match=r"100 drafts lie beside a\.py"):
        write.use({"path": "a.py", "content": "newer\n"})
    assert ((tree / "a.py").read_text(), (tree.parent / "state").read_text()) == ("new\n", "true\n")


def test_folders_are_made_as_deep_as_a_path_can_be(tree: Path) -> None:
    """A thousand folders are made and read again; a path that is too long for the kernel is told."""
    write, name = writing_tools(_place(tree))[0], "d/" * 1200 + "a.py"
    assert write.use({"path": name, "content": "x\n"}) == f"wrote 1 lines to {name}"
    assert reading_tools(_place(tree))[0].use({"path": name}) == "1\tx"
    with pytest.raises(ToolError, match="File name too long"):
        write.use({"path": "d/" * 3000 + "a.py", "content": "x\n"})
    subprocess.run(["rm", "-r", tree / "d"], check=True)


def test_a_file_that_may_not_be_written_is_refused(tree: Path) -> None:
    """A program that runs is not replaced behind its back."""
    shutil.copy(shutil.which("sleep") or "", tree / "sleep")
    with subprocess.Popen([tree / "sleep", "60"]) as busy:
        with pytest.raises(ToolError, match="Text file busy"):
            writing_tools(_place(tree))[0].use({"path": "sleep", "content": "new\n"})
        busy.kill()
    assert writing_tools(_place(tree))[0].use({"path": "sleep", "content": "new\n"})
