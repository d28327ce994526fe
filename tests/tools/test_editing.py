"""Replace exact pieces of a file, and say what stands there when they are not found."""

import re
from pathlib import Path
from typing import Any

import pytest

from harness_executor.tools.base import Place, ToolError
from harness_executor.tools.files import writing_tools
from harness_executor.tools.text import MAX_FILE


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An empty tree."""
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


def _edit(tree: Path, path: str, old: str, new: str, **more: Any) -> str:
    edit = writing_tools(Place(tree, tree.parent / "output"))[1]
    return edit.use({"path": path, "old": old, "new": new, **more})


def _piece(old: str, new: str) -> dict[str, str]:
    return {"old": old, "new": new}


def _miss(tree: Path, content: str, old: str, **more: Any) -> str:
    """What is said about an edit that fails and must change nothing."""
    (tree / "a.py").write_text(content, newline="")
    with pytest.raises(ToolError) as caught:
        _edit(tree, "a.py", old, "new", **more)
    assert (tree / "a.py").read_bytes() == content.encode()
    return str(caught.value)


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


def test_many_edits_of_one_call_are_made_in_order(tree: Path) -> None:
    """Each edit meets what the one before it left."""
    (tree / "a.py").write_text("one\ntwo\n")
    more = [_piece("two", "2"), _piece("1\n2", "1 and 2")]
    assert _edit(tree, "a.py", "one", "1", more=more) == "edited a.py in 3 places"
    assert (tree / "a.py").read_text() == "1 and 2\n"


def test_of_many_edits_all_are_made_or_none(tree: Path) -> None:
    """One edit that misses leaves the file as it was, and is named by its number."""
    more = [_piece("two", "2"), _piece("absent", "x")]
    assert _miss(tree, "one\ntwo\n", "one", more=more) == "the old text 3 of 3 is not in a.py"


def test_every_occurrence_is_replaced_when_asked_for(tree: Path) -> None:
    """With `all` a piece may be there more than once."""
    (tree / "a.py").write_text("x = 1\nx = 1\n")
    assert _edit(tree, "a.py", "x", "y", all=True) == "edited a.py in 2 places"
    assert (tree / "a.py").read_text() == "y = 1\ny = 1\n"


def test_an_edit_that_fits_twice_is_refused(tree: Path) -> None:
    """Which of two places is meant is not guessed, and both are named."""
    said = _miss(tree, "x = 1\n\nx = 1\n", "x = 1")
    assert said == (
        "the old text is in a.py 2 times, at lines 1, 3; give more of its surroundings, or set all"
    )
    assert "at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 …;" in _miss(tree, "x\n" * 20, "x")


@pytest.mark.parametrize(
    ("content", "old", "said"),
    [
        (
            "def stats(self):\n    return total\n",
            "def stat(self):\n",
            "; the nearest lines are:\n1\tdef stats(self):",
        ),
        ("a\nb\nif total:\n    go()\n", "if totals:\n    go()\n", "are:\n3\tif total:\n4\t    go()"),
        (
            "if a:\n\tgo()\n",
            "if a:\n    go()\n",
            "; it differs in tabs and spaces from:\n1\tif a:\n2\t\tgo()",
        ),
        ("if a:\n    go()\n", "if a:\n  go()\n", "; it differs in indentation from:\n1\tif a:\n2\t    go()"),
        (
            "a = 1  \nb = 2\n",
            "a = 1\nb = 2",
            "; it differs in spaces at line ends from:\n1\ta = 1  \n2\tb = 2",
        ),
        ("f(a,b)\n", "f(a, b)", "; it differs in spaces from:\n1\tf(a,b)"),
        ("one\ntwo\n", "1\tone\n2\ttwo", "; give it without line numbers"),
        ("def stats(self):\n", "class Unrelated:", "is not in a.py"),
        ("x\n", "", "is not in a.py"),
        ("x\n", "\n\n\n", "is not in a.py"),
        ("", "x", "is not in a.py"),
    ],
    ids=[
        "near",
        "block",
        "tabs",
        "indentation",
        "ends",
        "spaces",
        "numbers",
        "far",
        "nothing",
        "blank",
        "empty",
    ],
)
def test_an_edit_that_misses_says_what_stands_there(tree: Path, content: str, old: str, said: str) -> None:
    """The model learns what it has to write instead, and nothing is changed."""
    assert _miss(tree, content, old).endswith(said)


def test_a_miss_in_a_large_file_is_told_soon(tree: Path) -> None:
    """Twenty thousand lines are looked through for a near one."""
    content = "".join(f"value_{number} = compute({number})\n" for number in range(20_000))
    assert "19999\tvalue_19998 = compute(19998)" in _miss(tree, content, "value_19998 = computed(19998)")


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("one\r\ntwo\r\n", "one\ntwo", "1\n2", "1\r\n2\r\n"),
        ("one\r\ntwo\r\n", "two", "2\n3", "one\r\n2\r\n3\r\n"),
        ("a\r\nb\nc\n", "a\nb", "x\ny", "x\r\ny\nc\n"),
        ("a\r\nb\nc\n", "b\nc", "y\nz", "a\r\ny\nz\n"),
        ("a\rb\n", "a\rb", "x\ry", "x\ry\n"),
    ],
    ids=["all", "new lines", "mixed, returned", "mixed, bare", "lone"],
)
def test_line_ends_are_kept(tree: Path, before: str, old: str, new: str, after: str) -> None:
    """An edit with plain line feeds fits a file with carriage returns, and leaves them there."""
    (tree / "a.txt").write_bytes(before.encode())
    _edit(tree, "a.txt", old, new)
    assert (tree / "a.txt").read_bytes() == after.encode()


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [("", "cp1252"), ("\ufeff", "utf-8"), ("\ufeff", "utf-16-le"), ("\ufeff", "utf-16-be")],
)
def test_the_encoding_and_its_mark_are_kept(tree: Path, mark: str, encoding: str) -> None:
    """Every byte that is not edited stays as it was."""
    (tree / "a.txt").write_bytes(f"{mark}café\r\nthé\r\n".encode(encoding))
    _edit(tree, "a.txt", "thé", "naïve")
    assert (tree / "a.txt").read_bytes() == f"{mark}café\r\nnaïve\r\n".encode(encoding)


def test_bytes_of_no_encoding_are_kept(tree: Path) -> None:
    """A file that is text in no encoding is edited around what nobody can read."""
    before = bytes(range(1, 256))
    (tree / "a.txt").write_bytes(before)
    _edit(tree, "a.txt", "ABC", "xyz")
    assert (tree / "a.txt").read_bytes() == before.replace(b"ABC", b"xyz")


def test_a_character_the_encoding_lacks_is_refused(tree: Path) -> None:
    """What cannot be written in the file's encoding changes nothing."""
    (tree / "a.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(ToolError, match=re.escape("'→' cannot be written in cp1252")):
        _edit(tree, "a.txt", "caf", "→")
    assert (tree / "a.txt").read_bytes() == b"caf\xe9\n"


def test_what_is_not_text_is_not_edited(tree: Path) -> None:
    """A binary file is refused with what it is, and stays."""
    (tree / "a.bin").write_bytes(b"old\0")
    with pytest.raises(ToolError, match=r"a\.bin is not a text file: binary file, 4 bytes"):
        _edit(tree, "a.bin", "old", "new")
    assert (tree / "a.bin").read_bytes() == b"old\0"


def test_a_huge_file_is_not_edited(tree: Path) -> None:
    """Eight terabytes of nothing are refused by their size."""
    with (tree / "huge").open("wb") as stream:
        stream.truncate(8 * 10**12)
    with pytest.raises(ToolError, match=f"huge has 8000000000000 bytes; at most {MAX_FILE} can be edited"):
        _edit(tree, "huge", "a", "b")


@pytest.mark.parametrize("path", ["absent.py", "absent/a.py"])
def test_a_file_that_is_not_there_is_not_edited(tree: Path, path: str) -> None:
    """Nothing is made by an edit."""
    with pytest.raises(ToolError, match="there is no file"):
        _edit(tree, path, "old", "new")
    assert list(tree.iterdir()) == []


def test_a_mode_is_kept(tree: Path) -> None:
    """A script that is edited can still be run."""
    (tree / "run.sh").write_text("old\n")
    (tree / "run.sh").chmod(0o755)
    _edit(tree, "run.sh", "old", "new")
    assert (tree / "run.sh").stat().st_mode & 0o777 == 0o755
