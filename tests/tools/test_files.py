"""Read, write and edit files of the tree."""

import os
from pathlib import Path

import pytest

from harness_executor.tools.base import MAX_RESULT, ToolError
from harness_executor.tools.files import MAX_FILE, reading_tools, writing_tools


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An empty tree."""
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


def _read(tree: Path, path: str, **more: int) -> str:
    (tool,) = reading_tools(tree)
    return tool.use({"path": path, **more})


def _write(tree: Path, path: str, content: str) -> str:
    return writing_tools(tree)[0].use({"path": path, "content": content})


def _edit(tree: Path, path: str, old: str, new: str) -> str:
    return writing_tools(tree)[1].use({"path": path, "old": old, "new": new})


def test_reads_with_line_numbers(tree: Path) -> None:
    """Each line stands behind its number."""
    (tree / "a.py").write_text("one\n\nthree\n")
    assert _read(tree, "a.py") == "1\tone\n2\t\n3\tthree"


def test_reads_a_part_and_says_how_much_is_left(tree: Path) -> None:
    """A window of lines keeps its numbers, and the rest is counted."""
    (tree / "a.py").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    assert _read(tree, "a.py", first=4, lines=2) == "4\tline 4\n5\tline 5\n… 5 more lines"
    assert _read(tree, "a.py", first=10) == "10\tline 10"
    assert _read(tree, "a.py", first=11) == ""


@pytest.mark.parametrize(("first", "lines"), [(-5, 1), (0, 0), (0, -3)])
def test_a_window_that_makes_no_sense_shows_a_line(tree: Path, first: int, lines: int) -> None:
    """Numbers below one are read as one."""
    (tree / "a.py").write_text("one\ntwo\n")
    assert _read(tree, "a.py", first=first, lines=lines) == "1\tone\n… 1 more lines"


def test_shows_eight_hundred_lines_at_once(tree: Path) -> None:
    """A long file is shown from its beginning, not in full."""
    (tree / "a.py").write_text("x\n" * 1000)
    assert _read(tree, "a.py").endswith("800\tx\n… 200 more lines")


def test_a_file_of_long_lines_is_clipped(tree: Path) -> None:
    """What is sent to a model has a limit, whatever the lines are."""
    (tree / "a.js").write_text("x" * 1_000_000)
    read = _read(tree, "a.js")
    assert len(read) < MAX_RESULT + 100
    assert "characters left out" in read


def test_reads_a_folder_as_its_names(tree: Path) -> None:
    """Names are sorted, and folders end with a slash."""
    (tree / "src").mkdir()
    (tree / "app.py").touch()
    assert _read(tree, ".") == "app.py\nsrc/"
    assert _read(tree, "src") == ""


def test_an_empty_file_is_empty(tree: Path) -> None:
    """A file with nothing in it is read as nothing."""
    (tree / "a.py").touch()
    assert _read(tree, "a.py") == ""


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"caf\xe9\n", b"\x89PNG\r\n\x1a\n\x00\xff"])
def test_what_is_not_text_is_not_shown(tree: Path, content: bytes) -> None:
    """A binary file, or one in another encoding, is refused for reading and for editing, and stays."""
    (tree / "a.bin").write_bytes(content)
    with pytest.raises(ToolError, match=r"a\.bin is not a text file"):
        _read(tree, "a.bin")
    with pytest.raises(ToolError, match=r"a\.bin is not a text file"):
        _edit(tree, "a.bin", "caf", "x")
    assert (tree / "a.bin").read_bytes() == content


def test_a_huge_file_is_refused_by_its_size(tree: Path) -> None:
    """Eight terabytes of nothing are not read to find out that they are too much."""
    with (tree / "huge").open("wb") as stream:
        stream.truncate(8 * 10**12)
    with pytest.raises(ToolError, match=f"huge has 8000000000000 bytes; at most {MAX_FILE} are read"):
        _read(tree, "huge")


@pytest.mark.parametrize("name", ["absent.py", "pipe", "dangling/x"])
def test_what_is_no_file_is_not_read(tree: Path, name: str) -> None:
    """A missing file and a pipe are refused at once."""
    os.mkfifo(tree / "pipe")
    with pytest.raises(ToolError, match="there is no file"):
        _read(tree, name)


def test_writes_a_file_and_the_folders_above_it(tree: Path) -> None:
    """A new file is there afterwards, byte for byte."""
    assert _write(tree, "src/new/a.py", "one\r\ntwo é\n") == "wrote 2 lines to src/new/a.py"
    assert (tree / "src" / "new" / "a.py").read_bytes() == "one\r\ntwo é\n".encode()


def test_writing_again_replaces_the_whole_file(tree: Path) -> None:
    """Nothing of the old content stays, and the file keeps its mode."""
    (tree / "run.sh").write_text("a long line that was here before\n")
    (tree / "run.sh").chmod(0o755)
    _write(tree, "run.sh", "x\n")
    assert (tree / "run.sh").read_text() == "x\n"
    assert (tree / "run.sh").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("name", [".", "src", "pipe"])
def test_only_a_file_can_be_written(tree: Path, name: str) -> None:
    """A folder and a pipe are refused at once."""
    (tree / "src").mkdir()
    os.mkfifo(tree / "pipe")
    with pytest.raises(ToolError, match="is not a file"):
        _write(tree, name, "x")


@pytest.mark.parametrize("name", ["a.py/b.py", "x" * 300])
def test_what_the_file_system_refuses_is_told(tree: Path, name: str) -> None:
    """A path that cannot exist is an error with the system's words."""
    (tree / "a.py").touch()
    with pytest.raises(ToolError, match=r"Not a directory|File exists|File name too long"):
        _write(tree, name, "x")


def test_edits_one_exact_piece(tree: Path) -> None:
    """Only the piece changes: line ends and everything around it stay."""
    (tree / "a.py").write_bytes("é one\r\ntwo\r\nthree".encode())
    assert _edit(tree, "a.py", "two\r\n", "2\r\n") == "edited a.py"
    assert (tree / "a.py").read_bytes() == "é one\r\n2\r\nthree".encode()


def test_an_edit_takes_text_as_it_stands(tree: Path) -> None:
    """Patterns and escapes have no meaning in an edit."""
    (tree / "a.py").write_text(r"re.sub('.*', '\1', x)")
    _edit(tree, "a.py", ".*", r"\g<0>")
    assert (tree / "a.py").read_text() == r"re.sub('\g<0>', '\1', x)"


def test_an_edit_that_misses_shows_the_nearest_line(tree: Path) -> None:
    """The model learns what stands there instead, and nothing is changed."""
    (tree / "a.py").write_text("def stats(self):\n    return total\n")
    with pytest.raises(ToolError, match=r"not in a\.py; the nearest line is: def stats\(self\):"):
        _edit(tree, "a.py", "def stat(self):\n", "x")
    assert (tree / "a.py").read_text() == "def stats(self):\n    return total\n"


def test_an_edit_that_misses_by_far_shows_nothing(tree: Path) -> None:
    """A line that does not resemble the old text is not offered."""
    (tree / "a.py").write_text("def stats(self):\n")
    with pytest.raises(ToolError, match=r"the old text is not in a\.py$"):
        _edit(tree, "a.py", "class Unrelated:", "x")


def test_an_edit_of_nothing_is_refused(tree: Path) -> None:
    """Empty old text is found nowhere."""
    (tree / "a.py").write_text("x\n")
    with pytest.raises(ToolError, match="the old text is not in"):
        _edit(tree, "a.py", "", "y")


def test_an_edit_that_fits_twice_is_refused(tree: Path) -> None:
    """Which of two places is meant is not guessed."""
    (tree / "a.py").write_text("x = 1\nx = 1\n")
    with pytest.raises(ToolError, match=r"is in a\.py 2 times; give more of its surroundings"):
        _edit(tree, "a.py", "x = 1", "x = 2")
    assert (tree / "a.py").read_text() == "x = 1\nx = 1\n"
