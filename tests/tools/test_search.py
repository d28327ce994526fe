"""Find text in the tree."""

import os
from pathlib import Path

import pytest

from harness_executor.tools.base import ToolError
from harness_executor.tools.search import searching_tools


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of two files, next to a secret that is not in it."""
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "app.py").write_text("import os\ndef stats():\n    return 1\n")
    (tree / "src" / "more.py").write_text("def stats_of():\n    return 2\n")
    (tmp_path / "secret").write_text("def stats(): sesame\n")
    return tree


def _search(tree: Path, pattern: str, path: str = ".") -> str:
    (tool,) = searching_tools(tree)
    return tool.use({"pattern": pattern, "path": path})


def test_finds_lines_with_their_place(tree: Path) -> None:
    """Each hit has its file, its line and its text, files in order."""
    assert _search(tree, r"def \w+") == "app.py:2: def stats():\nsrc/more.py:1: def stats_of():"


def test_lists_the_files_without_a_pattern(tree: Path) -> None:
    """An empty pattern gives the names."""
    assert _search(tree, "") == "app.py\nsrc/more.py"


@pytest.mark.parametrize(
    ("path", "found"), [("src", "src/more.py"), ("app.py", "app.py"), ("./src/", "src/more.py")]
)
def test_stays_below_the_path_it_is_given(tree: Path, path: str, found: str) -> None:
    """A folder or a file narrows the search, and names are still those of the tree."""
    assert _search(tree, "def", path).startswith(f"{found}:")
    assert _search(tree, "", path) == found


@pytest.mark.parametrize("path", ["absent", "."])
def test_says_when_nothing_was_found(tree: Path, path: str) -> None:
    """No hit is an answer in words."""
    assert _search(tree, "nowhere at all", path) == "nothing found"


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "a{99999999999999}", "(" * 5000, "(?P<a>)(?P<a>)"])
def test_a_pattern_that_cannot_be_read_is_told(tree: Path, pattern: str) -> None:
    """A bad pattern is an error for the model, whatever is bad about it."""
    with pytest.raises(ToolError, match="not a regular expression"):
        _search(tree, pattern)


@pytest.mark.parametrize("folder", [".git", ".venv", "venv", "node_modules", "__pycache__"])
def test_leaves_out_what_is_not_the_project(tree: Path, folder: str) -> None:
    """Dependencies, caches and git are not searched."""
    (tree / folder).mkdir()
    (tree / folder / "found.py").write_text("def stats(): ...\n")
    assert "found.py" not in _search(tree, "def stats")
    assert "found.py" not in _search(tree, "")


def test_does_not_follow_links_out_of_the_tree(tree: Path) -> None:
    """A link to a file or a folder outside shows neither its text nor that it is there."""
    (tree / "link").symlink_to("../secret")
    (tree / "folder").symlink_to("..")
    (tree / "loop").symlink_to(".")
    assert "sesame" not in _search(tree, "sesame|stats")
    assert _search(tree, "") == "app.py\nsrc/more.py"
    with pytest.raises(ToolError, match="leads out"):
        _search(tree, "sesame", "link")


def test_a_pipe_does_not_hold_it_up(tree: Path) -> None:
    """What is not a plain file is left out, and not waited for."""
    os.mkfifo(tree / "pipe")
    assert _search(tree, "def stats_of") == "src/more.py:1: def stats_of():"
    assert _search(tree, "x", "pipe") == "nothing found"


def test_files_that_are_not_text_or_too_large_are_left_out(tree: Path) -> None:
    """Binary files and those over two megabytes hold no hits."""
    (tree / "a.bin").write_bytes(b"\xff def stats\n")
    with (tree / "huge").open("wb") as stream:
        stream.truncate(8 * 10**12)
    assert _search(tree, "def stats_of") == "src/more.py:1: def stats_of():"


def test_shows_at_most_two_hundred_hits(tree: Path) -> None:
    """A pattern that fits everything is answered with a part and a hint."""
    (tree / "many.txt").write_text("hit\n" * 5000)
    lines = _search(tree, "hit").splitlines()
    assert len(lines) == 201
    assert lines[-1] == "… more; narrow the search"


def test_shows_the_beginning_of_a_long_line(tree: Path) -> None:
    """A hit in a minified file is cut."""
    (tree / "min.js").write_text("x" * 100_000)
    assert _search(tree, "xxx") == f"min.js:1: {'x' * 300}"
