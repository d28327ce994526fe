"""What a tool is: a name, a typed argument and a text that comes back."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness_executor.tools.base import (
    MAX_RESULT,
    Place,
    Spill,
    Tool,
    ToolError,
    clip,
    small_schema,
    within,
)
from harness_executor.tools.files import Read, reading_tools, writing_tools
from harness_executor.tools.place import MAX_KEPT
from harness_executor.tools.search import searching_tools
from harness_executor.tools.shell import Terminal
from tests.rooms import unboxed


@dataclass(frozen=True)
class Word:
    """An argument."""

    text: str
    times: int = 1


def _tool(act: Any) -> Tool:
    return Tool("repeat", "Say it again.", Word, act)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a file, next to a secret that is not in it."""
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "src" / "app.py").write_text("print(1)\n")
    (tmp_path / "secret").write_text("sesame\n")
    (tmp_path / "tree-evil").mkdir()
    (tmp_path / "tree-evil" / "secret").write_text("sesame\n")
    return tree


def test_is_used_with_a_typed_argument() -> None:
    """The argument is read strictly before the tool acts."""
    tool = _tool(lambda word: word.text * word.times)
    assert tool.use({"text": "ab", "times": 2}) == "abab"
    assert tool.use({"text": "ab"}) == "ab"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "text: is missing"),
        ({"text": 1}, "text: "),
        ({"text": "a", "times": "2"}, "times: "),
        ({"text": "a", "times": True}, "times: "),
        ({"text": "a", "times": 1.5}, "times: "),
        ({"text": None}, "text: "),
        ({"text": "\ud800"}, "Invalid JSON"),
        ({"text": "a", "times": float("nan")}, "is not plain JSON"),
        ({"text": "a", "times": 10**5000}, "is not plain JSON"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: dict[str, Any], words: str) -> None:
    """The refusal is for the model, and names the place."""
    with pytest.raises(ToolError, match=f"the arguments do not fit: .*{words}"):
        _tool(str).use(arguments)


def test_shows_the_model_what_it_takes() -> None:
    """The schema has every field with its words, and refuses what it does not name."""
    schema = Tool("read_file", "Read.", Read, str).schema
    assert schema == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "first": {"description": "First line.", "type": "integer"},
            "lines": {"type": "integer"},
        },
        "required": ["path"],
        "additionalProperties": False,
    }


def test_shows_a_type_within_a_type_where_it_is_used() -> None:
    """A schema has no references, and a property may be called as a key of schemas is."""

    @dataclass(frozen=True)
    class Page:
        """A page."""

        title: str

    @dataclass(frozen=True)
    class Book:
        """A book."""

        default: Page
        pages: tuple[Page, ...] = ()

    page = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    pages = {"type": "array", "items": page}
    properties = {"default": page, "pages": pages}
    assert small_schema(Book) == {"type": "object", "properties": properties, "required": ["default"]}


def test_all_tools_together_are_small(tree: Path) -> None:
    """What every request repeats about tools is short."""
    place, box = Place(tree, tree.parent / "output"), unboxed(tree)
    terminal = Terminal(place, box, tree.parent / "log")
    tools = (*reading_tools(place), *searching_tools(place, box), *writing_tools(place), *terminal.tools())
    text = json.dumps([[tool.name, tool.description, tool.schema] for tool in tools], separators=(",", ":"))
    assert len(text) < 2400
    assert [tool.name for tool in tools if tool.reads] == ["read_file", "search"]


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Permission denied"), ValueError("embedded null byte")]
)
def test_what_the_machine_refuses_is_told(error: Exception) -> None:
    """An error of the file system or of a process is a text for the model, not a crash."""

    def act(_: Word) -> str:
        raise error

    with pytest.raises(ToolError, match=r"Permission denied|embedded null byte"):
        _tool(act).use({"text": "a"})


def test_a_long_result_keeps_its_beginning_and_its_end() -> None:
    """What is left out is counted, and what is kept is at most what may be sent."""
    text = "a" * MAX_RESULT + "b" * MAX_RESULT
    clipped = clip(text)
    assert clipped.startswith("a" * (MAX_RESULT // 2))
    assert clipped.endswith("b" * (MAX_RESULT // 2))
    assert f"… {MAX_RESULT} characters left out …" in clipped
    assert len(clipped) < MAX_RESULT + 100


def test_the_whole_of_a_long_result_is_kept(tmp_path: Path) -> None:
    """A result that is too long names a file that has all of it, each its own."""
    tool = Tool("long", "Long.", Word, lambda word: word.text * MAX_RESULT, spill=Spill(tmp_path / "output"))
    assert "; all of it is in @output/1.txt …" in tool.use({"text": "ab"})
    assert "; all of it is in @output/2.txt …" in tool.use({"text": "éa"})
    assert (tmp_path / "output" / "1.txt").read_text() == "ab" * MAX_RESULT
    assert Place(tmp_path, tmp_path / "output").find("@output/2.txt").read_text() == "éa" * MAX_RESULT


def test_many_long_results_at_once_have_names_of_their_own(tmp_path: Path) -> None:
    """Results that are kept at the same time do not meet."""
    spill = Spill(tmp_path / "output")
    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(spill.keep, map(str, range(100))))
    assert [spill.find(name).read_text() for name in names] == [str(number) for number in range(100)]


def test_a_result_that_no_machine_could_keep_is_cut(tmp_path: Path) -> None:
    """No more of a result is written down than anybody would read."""
    spill = Spill(tmp_path / "output")
    assert spill.find(spill.keep("x" * (MAX_KEPT + 1))).stat().st_size == MAX_KEPT


@pytest.mark.parametrize(
    "name",
    [
        "@output",
        "@output/",
        "@output/../secret",
        "@output/1",
        "@output/1.txt/x",
        "@",
        "@secret",
        "@output/x.txt",
    ],
)
def test_only_a_kept_result_is_found_beside_the_tree(tree: Path, name: str) -> None:
    """No other name that begins like one leads anywhere."""
    with pytest.raises(ToolError, match="is not an output"):
        Place(tree, tree.parent).find(name)


def test_notes_each_file_that_was_touched_once(tree: Path) -> None:
    """Files are noted by their names in the tree, in the order of their first writing."""
    place = Place(tree, tree.parent / "output")
    write, edit = writing_tools(place)
    write.use({"path": "./new/b.py", "content": "x\n"})
    edit.use({"path": str(tree / "src" / "app.py"), "old": "1", "new": "2"})
    edit.use({"path": "new/b.py", "old": "x", "new": "y"})
    with pytest.raises(ToolError):
        edit.use({"path": "src/app.py", "old": "absent", "new": "y"})
    assert place.touched == ["new/b.py", "src/app.py"]


@pytest.mark.parametrize("text", ["", "short", "x" * MAX_RESULT])
def test_a_short_result_stays_as_it_is(text: str) -> None:
    """Nothing is left out of what fits."""
    assert clip(text) == text
    assert _tool(lambda _: text).use({"text": ""}) == text


@pytest.mark.parametrize(
    "name", ["src/app.py", "./src/app.py", "src//app.py", "src/./app.py", "new/file.py", "."]
)
def test_a_path_of_the_tree_is_allowed(tree: Path, name: str) -> None:
    """A path below the tree is one of the tree, whether it exists or not."""
    assert within(tree, name) == tree / name


def test_the_tree_may_be_named_in_full(tree: Path) -> None:
    """An absolute path that lies in the tree is one of the tree."""
    assert within(tree, str(tree / "src" / "app.py")) == tree / "src" / "app.py"
    assert within(tree, str(tree)) == tree


OUTSIDE = [
    "..",
    "../secret",
    "src/../../secret",
    "src/../app.py",
    "/etc/passwd",
    "/",
    "//etc/passwd",
    "~",
    "~/.ssh/id_rsa",
    "~root/x",
    "file:///etc/passwd",
    "file:/etc/passwd",
    "/proc/self/root/etc/passwd",
    "/proc/self/environ",
    "/dev/fd/0",
    "a\0b",
    "\0",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_path_that_is_not_in_the_tree_is_refused(tree: Path, name: str) -> None:
    """Whatever way out a path names, it is refused before anything is opened."""
    with pytest.raises(ToolError, match=r"outside the project|not a path of the project"):
        within(tree, name)


def test_a_folder_whose_name_begins_alike_is_another(tree: Path) -> None:
    """Paths are compared part by part: /tree-evil does not lie in /tree."""
    with pytest.raises(ToolError, match="outside the project"):
        within(tree, f"{tree}-evil/secret")


@pytest.mark.parametrize(
    "name",
    [
        ".git",
        ".git/config",
        "src/.git/hooks/pre-commit",
        ".GIT/config",
        ".Git/config",
        ".git./config",
        ".git /config",
        ".git. . /config",
        "git~1/config",
        "GIT~1/config",
        "\uff0egit/config",
        ".\uff47\uff49\uff54/config",
    ],
)
def test_git_is_out_of_reach_however_it_is_spelled(tree: Path, name: str) -> None:
    """A name that some file system takes for .git is refused on every one."""
    with pytest.raises(ToolError, match="outside the project"):
        within(tree, name)


@pytest.mark.parametrize("name", [".gitignore", ".github/workflows/ci.yml", "git", "a.git", ".gitattributes"])
def test_names_that_only_resemble_git_are_allowed(tree: Path, name: str) -> None:
    """A file that merely begins like .git is a file of the tree."""
    assert within(tree, name) == tree / name


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("../secret", "link"),
        ("/etc/passwd", "link"),
        ("..", "link/secret"),
        ("/proc/self/root", "link/etc/passwd"),
        ("/proc/self/cwd", "link"),
        ("/nonexistent", "link"),
        ("../absent", "link/new"),
        ("/dev/fd", "link/0"),
        ("link", "link"),
        ("other", "link"),
    ],
    ids=["file", "absolute", "folder", "root", "cwd", "absent", "new", "descriptor", "itself", "ring"],
)
def test_a_link_that_leads_out_is_refused(tree: Path, target: str, name: str) -> None:
    """A symbolic link is followed before it is judged, also one to nothing and one to itself."""
    (tree / "link").symlink_to(target)
    (tree / "other").symlink_to("link")
    with pytest.raises(ToolError, match=r"leads out of the project|is a link to itself"):
        within(tree, name)


def test_a_link_inside_the_tree_is_allowed(tree: Path) -> None:
    """A link to a file of the tree can be used."""
    (tree / "link").symlink_to("src/app.py")
    assert within(tree, "link").read_text() == "print(1)\n"


def test_a_tree_behind_a_link_is_a_tree(tree: Path, tmp_path: Path) -> None:
    """The tree itself may be reached through a link."""
    (tmp_path / "alias").symlink_to(tree)
    assert within(tmp_path / "alias", "src/app.py").read_text() == "print(1)\n"


@pytest.mark.parametrize("name", [*OUTSIDE, "link", "link/x", ".git/config", "loop"])
def test_no_tool_looks_or_writes_outside(tree: Path, name: str) -> None:
    """Every tool that takes a path refuses what leads out, and leaves the secret alone."""
    (tree / "link").symlink_to("../secret")
    (tree / "loop").symlink_to("loop")
    place = Place(tree, tree.parent / "output")
    read, write, edit = (*reading_tools(place), *writing_tools(place))
    (search,) = searching_tools(place, unboxed(tree, place.spill))
    tries: list[tuple[Tool, dict[str, str]]] = [
        (read, {"path": name}),
        (write, {"path": name, "content": "x"}),
        (edit, {"path": name, "old": "sesame", "new": "x"}),
        (search, {"path": name, "pattern": "sesame"}),
    ]
    before = sorted(os.walk(tree))
    for tool, arguments in tries:
        with pytest.raises(ToolError):
            tool.use(arguments)
    assert sorted(os.walk(tree)) == before
    assert (tree.parent / "secret").read_text() == "sesame\n"
