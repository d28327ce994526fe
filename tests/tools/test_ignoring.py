"""Which files of a tree its ignore files hide, seen from a folder that is held."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_executor.tools.beneath import hold
from harness_executor.tools.ignoring import Ignoring
from harness_executor.tools.text import MAX_FILE


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with two files, next to a secret that is not in it."""
    (tmp_path / "tree" / "src").mkdir(parents=True)
    (tmp_path / "tree" / "a.py").touch()
    (tmp_path / "tree" / "src" / "b.py").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").touch()
    return tmp_path / "tree"


def _files(tree: Path, folder: str = "") -> list[str]:
    return list(Ignoring(hold(tree)).files(folder))


def test_files_come_in_the_order_of_their_names(tree: Path) -> None:
    """Files and folders of a folder are walked together, by the bytes of their names."""
    for name in ("src.py", "src/a/z.py", "src/a.py", "Z.py", "é.py"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).touch()
    names = ["Z.py", "a.py", "src/a/z.py", "src/a.py", "src/b.py", "src.py", "é.py"]
    assert _files(tree) == names
    assert _files(tree, "src") == [name for name in names if name.startswith("src/")]


@pytest.mark.parametrize("folder", ["absent", "a.py", "out", "src/../../outside"])
def test_a27_what_is_no_folder_of_the_tree_has_no_files(tree: Path, folder: str) -> None:
    """A walk does not begin outside, though the path leads there."""
    (tree / "out").symlink_to("../outside")
    assert _files(tree, folder) == []
    assert (tree / "out" / "secret.py").exists()


def test_a27_a_walk_follows_no_link(tree: Path) -> None:
    """Links are neither files nor folders of a walk, wherever they lead."""
    (tree / "src" / "out").symlink_to("../../outside")
    (tree / "src" / "in").symlink_to("..")
    (tree / "link.py").symlink_to("a.py")
    assert _files(tree) == ["a.py", "src/b.py"]
    (tree / "folder").symlink_to("src")
    assert _files(tree, "folder") == ["folder/b.py"]


def test_a28_a_folder_that_becomes_a_link_during_a_walk_is_not_entered(tree: Path) -> None:
    """What was a folder when it was listed is opened as one, or not at all."""
    walk = Ignoring(hold(tree)).files()
    assert next(walk) == "a.py"
    (tree / "src").rename(tree / "moved")
    (tree / "src").symlink_to("../outside")
    assert os.listdir(tree / "src") == ["secret.py"]  # noqa: PTH208 - a list
    assert list(walk) == []


def test_an_ignore_file_may_be_a_link_of_the_tree(tree: Path) -> None:
    """A project that keeps its rules elsewhere in the tree is understood; rules outside do not count."""
    (tree / "src" / "rules").write_text("a.py\n")
    (tree / ".gitignore").symlink_to("src/rules")
    (tree.parent / "outside" / "rules").write_text("b.py\n")
    (tree / ".ignore").symlink_to("../outside/rules")
    assert _files(tree) == ["src/b.py", "src/rules"]
    assert "b.py" in (tree / ".ignore").read_text()


@pytest.mark.parametrize("kind", ["pipe", "folder", "giant", "itself"])
def test_a37_an_ignore_file_that_is_none_has_no_rules(tree: Path, kind: str) -> None:
    """A pipe, a folder, eight terabytes and a ring in the place of an ignore file hold nothing up."""
    path = tree / ".gitignore"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "giant":
            with path.open("wb") as stream:
                stream.write(b"a.py\n")
                stream.truncate(8 * 10**12)
        case _:
            path.symlink_to(path.name)
    assert [name for name in _files(tree) if name != ".gitignore"] == ["a.py", "src/b.py"]
    if kind == "giant":
        path.unlink()


def test_a37_a_large_ignore_file_counts_up_to_its_limit(tree: Path) -> None:
    """An ignore file is read as a whole or not at all."""
    (tree / ".gitignore").write_text("a.py\n".ljust(MAX_FILE, "#"))
    assert "a.py" not in _files(tree)
    (tree / ".gitignore").write_text("a.py\n".ljust(MAX_FILE + 1, "#"))
    assert "a.py" in _files(tree)


@pytest.fixture
def deep(tree: Path) -> Iterator[str]:
    """A folder more than a thousand deep, taken away again before anybody walks it."""
    name = "d/" * 1100
    subprocess.run(["mkdir", "-p", name], cwd=tree, check=True)
    yield name
    subprocess.run(["rm", "-r", "d"], cwd=tree, check=True)


def test_a_tree_that_is_very_deep_is_walked(tree: Path, deep: str) -> None:
    """Folders within folders end no walk, however many they are."""
    (tree / deep / "e.py").touch()
    assert _files(tree) == ["a.py", f"{deep}e.py", "src/b.py"]
