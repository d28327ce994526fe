"""What a tool is: a name, a typed argument and a text that comes back."""

import json
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
    assert Place(tmp_path, tmp_path / "output").outputs.find("@output/2.txt").read_text() == "éa" * MAX_RESULT


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


@pytest.mark.parametrize("text", ["", "short", "x" * MAX_RESULT])
def test_a_short_result_stays_as_it_is(text: str) -> None:
    """Nothing is left out of what fits."""
    assert clip(text) == text
    assert _tool(lambda _: text).use({"text": ""}) == text
