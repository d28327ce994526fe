"""Read, write and edit files of the tree."""

import os
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from socket import AF_UNIX, socket

import pytest

from harness_executor.tools.base import MAX_RESULT, Place, ToolError
from harness_executor.tools.files import LONGEST, reading_tools, writing_tools
from harness_executor.tools.search import searching_tools
from harness_executor.tools.text import MAX_FILE
from tests.rooms import unboxed


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An empty tree."""
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


def _place(tree: Path) -> Place:
    return Place(tree, tree.parent / "output")


def _read(tree: Path, path: str, **more: int) -> str:
    (tool,) = reading_tools(_place(tree))
    return tool.use({"path": path, **more})


def _write(tree: Path, path: str, content: str) -> str:
    return writing_tools(_place(tree))[0].use({"path": path, "content": content})


def test_reads_with_line_numbers(tree: Path) -> None:
    """Each line stands behind its number."""
    (tree / "a.py").write_text("one\n\nthree\n")
    assert _read(tree, "a.py") == "1\tone\n2\t\n3\tthree"


def test_reads_a_part_and_says_how_much_is_left(tree: Path) -> None:
    """A window of lines keeps its numbers, and the rest is counted."""
    (tree / "a.py").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    assert _read(tree, "a.py", first=4, lines=2) == "4\tline 4\n5\tline 5\n… 5 more lines, from 6"
    assert _read(tree, "a.py", first=10) == "10\tline 10"
    assert _read(tree, "a.py", first=11) == ""


@pytest.mark.parametrize(("first", "lines"), [(-5, 1), (0, 0), (0, -3)])
def test_a_window_that_makes_no_sense_shows_a_line(tree: Path, first: int, lines: int) -> None:
    """Numbers below one are read as one."""
    (tree / "a.py").write_text("one\ntwo\n")
    assert _read(tree, "a.py", first=first, lines=lines) == "1\tone\n… 1 more lines, from 2"


def test_shows_eight_hundred_lines_at_once(tree: Path) -> None:
    """A long file is shown from its beginning, not in full."""
    (tree / "a.py").write_text("x\n" * 1000)
    assert _read(tree, "a.py").endswith("800\tx\n… 200 more lines, from 801")


def test_a_long_line_is_cut(tree: Path) -> None:
    """The beginning of a line is shown, and how much more there is of it."""
    (tree / "a.js").write_text("x" * 1_000_000 + "\nend")
    assert _read(tree, "a.js") == f"1\t{'x' * LONGEST} … {1_000_000 - LONGEST} more characters\n2\tend"


def test_shows_no_more_than_may_be_sent_and_where_to_go_on(tree: Path) -> None:
    """A file of many wide lines is shown in parts that fit together without a gap."""
    wide = "".join(f"{number} {'x' * 200}\n" for number in range(1, 201))
    (tree / "a.txt").write_text(wide)
    shown, first = "", 1
    while first:
        part, _, rest = _read(tree, "a.txt", first=first).partition("\n… ")
        assert len(part) <= MAX_RESULT
        shown += "".join(line.partition("\t")[2] + "\n" for line in part.splitlines())
        first = int(rest.rpartition(" ")[2]) if rest else 0
    assert shown == wide


def test_lines_are_those_an_editor_has(tree: Path) -> None:
    """Only a line feed ends a line, and a carriage return before it is not shown."""
    (tree / "a.py").write_bytes("one\r\nt\x0cw\u2028o\x85\r\nthree".encode())
    assert _read(tree, "a.py") == "1\tone\n2\tt\x0cw\u2028o\x85\n3\tthree"


def test_reads_a_long_result(tree: Path) -> None:
    """What was kept beside the tree is read like a file of it."""
    name = _place(tree).outputs.keep("one\ntwo\n")
    assert _read(tree, name, first=2) == "2\ttwo"


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


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4) + (480).to_bytes(4)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (PNG, "PNG image of 640 x 480, 24 bytes"),
        (b"\xff\xd8\xff\xe0jpeg", "JPEG image, 8 bytes"),
        (b"GIF89a", "GIF image, 6 bytes"),
        (b"%PDF-1.7\n", "PDF document, 9 bytes"),
        (b"PK\x03\x04zip", "ZIP archive, 7 bytes"),
        (b"\x1f\x8b\x08", "gzip archive, 3 bytes"),
        (b"\x7fELF\x02", "ELF program, 5 bytes"),
        (b"SQLite format 3\0more", "SQLite database, 20 bytes"),
        (b"text\0more", "binary file, 9 bytes"),
        (b"\xff\xfe\0", "binary file, 3 bytes"),
    ],
)
def test_what_is_not_text_is_described(tree: Path, content: bytes, words: str) -> None:
    """A binary file is named by its kind and size instead of its bytes."""
    (tree / "a.bin").write_bytes(content)
    assert _read(tree, "a.bin") == f"[{words}; not shown]"


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("café “x”\n".encode("cp1252"), "1\tcafé “x”\n[encoded in cp1252]"),
        (b"a\x81b\n", "1\ta\x81b\n[encoded in latin-1]"),
        ("\ufeffone\ntwo\n".encode(), "1\tone\n2\ttwo"),
        ("\ufeffone\r\ntwo".encode("utf-16-le"), "1\tone\n2\ttwo\n[encoded in utf-16-le]"),
        ("\ufeffé".encode("utf-16-be"), "1\té\n[encoded in utf-16-be]"),
    ],
    ids=["cp1252", "latin-1", "marked", "utf-16-le", "utf-16-be"],
)
def test_text_in_another_encoding_is_shown_with_a_note(tree: Path, content: bytes, shown: str) -> None:
    """A file that is not UTF-8 is decoded, and its encoding is named."""
    (tree / "a.txt").write_bytes(content)
    assert _read(tree, "a.txt") == shown


def test_a_huge_file_is_read_by_range(tree: Path) -> None:
    """Any part of a file that is too large to hold is shown, and the end of the file is an error."""
    with (tree / "huge.log").open("w") as stream:
        stream.writelines(f"line {number}\n" for number in range(1, 300_001))
    size = (tree / "huge.log").stat().st_size
    assert size > MAX_FILE
    rest = f"… the file has {size} bytes; read on from line 250002"
    assert (
        _read(tree, "huge.log", first=250_000, lines=2) == f"250000\tline 250000\n250001\tline 250001\n{rest}"
    )
    assert _read(tree, "huge.log", first=300_000).startswith("300000\tline 300000\n… the file has")
    with pytest.raises(ToolError, match="has no line 300001"):
        _read(tree, "huge.log", first=300_001)


def test_a_huge_line_is_cut_without_being_held(tree: Path) -> None:
    """A line of many megabytes is shown by its beginning, and the one after it is found."""
    (tree / "huge.js").write_bytes(b"x" * 30_000_000 + b"\r\nend")
    first, second, _ = _read(tree, "huge.js").split("\n")
    assert first == f"1\t{'x' * LONGEST} … {30_000_002 - LONGEST} more bytes"
    assert second == "2\tend"


def test_a_huge_file_of_nothing_is_described(tree: Path) -> None:
    """Eight terabytes of nothing are not read to find out that they are no text."""
    with (tree / "huge").open("wb") as stream:
        stream.truncate(8 * 10**12)
    assert _read(tree, "huge") == "[binary file, 8000000000000 bytes; not shown]"


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


ODD = ["pipe", "socket", "folder", "giant"]


@pytest.fixture
def odd(tree: Path) -> Path:
    """A tree with a pipe, a socket, a folder and a file of eight terabytes."""
    os.mkfifo(tree / "pipe")
    (tree / "folder").mkdir()
    folder = os.open(tree, os.O_PATH)
    with socket(AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{folder}/socket")
    os.close(folder)
    with (tree / "giant").open("wb") as stream:
        stream.truncate(8 * 10**12)
    return tree


def _soon(act: Callable[[], str]) -> str:
    """What is said, or refused, and soon."""
    began = time.monotonic()
    try:
        said = act()
    except ToolError as error:
        said = f"refused: {error}"
    assert time.monotonic() - began < 10
    return said


def test_a37_what_is_no_file_is_never_waited_for(odd: Path) -> None:
    """A pipe, a socket, a folder and a giant are read as what they are, or refused, at once."""
    assert [_soon(partial(_read, odd, name)) for name in ODD] == [
        "refused: there is no file pipe",
        "refused: there is no file socket",
        "",
        "[binary file, 8000000000000 bytes; not shown]",
    ]


def test_a37_a_plain_reader_waits_for_a_pipe(odd: Path) -> None:
    """The control: who opens a pipe the plain way does not come back."""
    with subprocess.Popen(["cat", odd / "pipe"]) as reader:
        with pytest.raises(subprocess.TimeoutExpired):
            reader.wait(0.5)
        reader.kill()


def test_a37_only_a_plain_file_is_written_or_edited(odd: Path) -> None:
    """What is no file is refused at once and stays; a giant is not edited, and gives way to a file."""
    write, edit = writing_tools(_place(odd))
    for name in ("pipe", "socket", "folder"):
        kind = (odd / name).lstat().st_mode
        for act in (
            partial(write.use, {"path": name, "content": "x"}),
            partial(edit.use, {"path": name, "old": "a", "new": "b"}),
        ):
            assert _soon(act) == f"refused: {name} is not a file"
        assert (odd / name).lstat().st_mode == kind
    said = _soon(partial(edit.use, {"path": "giant", "old": "a", "new": "b"}))
    assert said == f"refused: giant has 8000000000000 bytes; at most {MAX_FILE} can be edited"
    assert _soon(partial(write.use, {"path": "giant", "content": "x"})) == "wrote 1 lines to giant"
    assert (odd / "giant").stat().st_size == 1


@pytest.mark.parametrize("name", ["zero", "null", "full"])
def test_a37_a_device_is_neither_read_nor_written(tree: Path, name: str) -> None:
    """In /dev itself no device is a file; a plain reader of /dev/zero would never come to its end."""
    place = Place(Path("/dev"), tree.parent / "output")
    (read,), (write, edit) = reading_tools(place), writing_tools(place)
    assert Path("/dev", name).is_char_device()
    assert _soon(partial(read.use, {"path": name})) == f"refused: there is no file {name}"
    refusal = f"refused: {name} is not a file"
    assert _soon(partial(write.use, {"path": name, "content": "x"})) == refusal
    assert _soon(partial(edit.use, {"path": name, "old": "a", "new": "b"})) == refusal
    assert Path("/dev", name).is_char_device()


def test_a37_a_search_waits_for_nothing(odd: Path) -> None:
    """A tree with a pipe, a socket and a giant is listed and searched at once, also by their names."""
    (odd / "a.py").write_text("needle\n")
    place = _place(odd)
    (search,) = searching_tools(place, unboxed(place.root, place.spill))
    assert search.use({"pattern": "needle"}) == "a.py:1: needle"
    assert _soon(partial(search.use, {"pattern": ""})) == "a.py\ngiant"
    for name in ("pipe", "socket"):
        said = _soon(partial(search.use, {"pattern": "needle", "path": name}))
        assert said == "nothing found"


def test_a_file_that_grows_while_it_is_read_is_not_held_as_a_whole(tree: Path) -> None:
    """No more of a file is taken than may be decoded, whatever its size was a moment ago."""
    writer, path = "while :; do head -c 1000000 /dev/zero | tr '\\0' 'x'; echo; done", tree / "log"
    path.touch()
    with path.open("wb") as stream, subprocess.Popen(["sh", "-c", writer], stdout=stream) as growing:
        for _ in range(50):
            assert len(_read(tree, "log")) <= MAX_RESULT
        growing.kill()
    path.unlink()
