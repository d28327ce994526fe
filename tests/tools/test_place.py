"""Where a subagent works: its tree, what may be read beside it, and a folder for long results."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from harness_executor.tools.base import Place, Tool, ToolError, within
from harness_executor.tools.files import reading_tools, writing_tools
from harness_executor.tools.search import searching_tools
from harness_executor.tools.shell import Terminal
from tests.rooms import unboxed


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


def _place(tree: Path) -> Place:
    return Place(tree, tree.parent / "output")


def _read(place: Place, path: str) -> str:
    return reading_tools(place)[0].use({"path": path})


def _search(place: Place, pattern: str, path: str) -> str:
    return searching_tools(place, unboxed(place.root, place.spill))[0].use({"pattern": pattern, "path": path})


def _refusals(place: Place, name: str) -> set[str]:
    """What each tool says to a path that leads out; nothing may be read or changed."""
    read, write, edit = (*reading_tools(place), *writing_tools(place))
    (search,) = searching_tools(place, unboxed(place.root, place.spill))
    tries: list[tuple[Tool, dict[str, str]]] = [
        (read, {"path": name}),
        (write, {"path": name, "content": "x"}),
        (edit, {"path": name, "old": "sesame", "new": "x"}),
        (search, {"path": name, "pattern": "sesame"}),
        (search, {"path": name, "pattern": ""}),
    ]
    above = place.root.parent
    before = [sorted(os.walk(above)), (above / "secret").stat()]
    said = set()
    for tool, arguments in tries:
        with pytest.raises(ToolError) as caught:
            tool.use(arguments)
        said.add(str(caught.value))
    assert [sorted(os.walk(above)), (above / "secret").stat()] == before
    return said


def _obliging(tree: Path, name: str) -> str:
    """The control: a tool that takes a path as it is meant, and reads it."""
    path = Path(urlsplit(name).path) if name.startswith("file:") else Path(name).expanduser()
    return (tree / path).read_text()


@pytest.mark.parametrize("name", ["../secret", "src/../../secret", "./../secret", "{tree}/../secret"])
def test_a25_dots_lead_nowhere(tree: Path, name: str) -> None:
    """A path with .. is refused by every tool, though it would lead to a secret."""
    name = name.format(tree=tree)
    assert _obliging(tree, name) == "sesame\n"
    assert _refusals(_place(tree), name) == {f"{name} is outside the project"}


def test_a25_dots_that_stay_inside_are_refused_too(tree: Path) -> None:
    """What lies behind .. depends on links, so no path with it is read; the same path without it is."""
    with pytest.raises(ToolError, match="outside the project"):
        _read(_place(tree), "src/../src/app.py")
    assert _read(_place(tree), "src/app.py") == "1\tprint(1)"


@pytest.mark.parametrize("form", ["{}/secret", "~/secret", "file://{}/secret", "file:{}/secret"])
def test_a26_a_path_that_is_not_of_the_tree_is_refused(
    tree: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An absolute path, a home and an address are refused, though each would lead to a secret."""
    monkeypatch.setenv("HOME", str(tree.parent))
    name = form.format(tree.parent)
    assert _obliging(tree, name) == "sesame\n"
    (said,) = _refusals(_place(tree), name)
    assert "outside the project" in said or "not a path of the project" in said


OUTSIDE = [
    "..",
    "/etc/passwd",
    "/",
    "//etc/passwd",
    "~",
    "~root/x",
    "FILE:///etc/passwd",
    "/proc/self/environ",
    "a\0b",
    "\0",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a26_whatever_way_out_is_named_it_is_refused(tree: Path, name: str) -> None:
    """The words of a path are judged before anything is opened."""
    with pytest.raises(ToolError, match=r"outside the project|not a path of the project"):
        within(name, tree)


@pytest.mark.parametrize(
    ("name", "inner"),
    [
        ("src/app.py", "src/app.py"),
        ("./src/app.py", "src/app.py"),
        ("src//app.py", "src/app.py"),
        ("src/./app.py", "src/app.py"),
        ("new/file.py", "new/file.py"),
        (".", "."),
        ("", "."),
        ("a~b", "a~b"),
        ("profile:x", "profile:x"),
    ],
)
def test_a_path_of_the_tree_is_allowed(tree: Path, name: str, inner: str) -> None:
    """A path below the tree is one of the tree, whether it exists or not."""
    assert within(name, tree) == inner


def test_the_tree_may_be_named_in_full(tree: Path) -> None:
    """An absolute path that lies in the tree is one of the tree."""
    assert within(str(tree / "src" / "app.py"), tree) == "src/app.py"
    assert within(str(tree), tree) == "."


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("../secret", "link"),
        ("{above}/secret", "link"),
        ("..", "link/secret"),
        ("{above}", "link/secret"),
        ("src/../../secret", "link"),
        ("other", "link"),
        ("other", "link/.."),
    ],
    ids=["file", "absolute", "folder", "absolute folder", "through the tree", "chain", "chain of dots"],
)
def test_a27_a_link_that_leads_out_is_refused(tree: Path, target: str, name: str) -> None:
    """No tool follows a link of the tree to a secret, though the kernel would."""
    (tree / "other").symlink_to(tree.parent / "secret")
    (tree / "link").symlink_to(target.format(above=tree.parent))
    if ".." not in name:
        assert (tree / name).read_text() == "sesame\n"
    for said in _refusals(_place(tree), name):
        assert "leads out of the project" in said or "is a link" in said or "outside the project" in said


@pytest.mark.parametrize(("target", "name"), [("/nonexistent", "link"), ("../absent", "link/new")])
def test_a27_a_link_to_nothing_makes_nothing(tree: Path, target: str, name: str) -> None:
    """A file is not made through a link that leads out, though the kernel would make it."""
    (tree / "link").symlink_to(target)
    _refusals(_place(tree), name)
    (tree / "control").symlink_to("../made")
    (tree / "control").write_text("x")
    assert (tree.parent / "made").exists()


@pytest.mark.parametrize("target", ["link", "other"], ids=["itself", "ring"])
def test_a27_a_ring_of_links_is_refused(tree: Path, target: str) -> None:
    """A link that leads to itself is told as one."""
    (tree / "link").symlink_to(target)
    (tree / "other").symlink_to("link")
    with pytest.raises(ToolError, match="is a link to itself"):
        _read(_place(tree), "link")


def test_a27_a_folder_with_links_is_listed_without_following_them(tree: Path) -> None:
    """Only a link to a folder of the tree is shown as a folder, whatever the others lead to."""
    (tree / "inside").symlink_to("src")
    (tree / "outside").symlink_to("..")
    (tree / "absolute").symlink_to(tree / "src")
    assert (tree / "outside").is_dir()
    assert _read(_place(tree), ".") == "absolute\ninside/\noutside\nsrc/"


def test_a_link_inside_the_tree_is_read(tree: Path) -> None:
    """A link to a file or folder of the tree can be read and searched behind."""
    (tree / "link.py").symlink_to("src/app.py")
    (tree / "folder").symlink_to("src")
    (tree / "src" / "up.py").symlink_to("../src/app.py")
    place = _place(tree)
    for name in ("link.py", "folder/app.py", "src/up.py"):
        assert _read(place, name) == "1\tprint(1)"
    assert _read(place, "folder") == "app.py\nup.py"
    assert _search(place, "print", "folder") == "folder/app.py:1: print(1)"


def test_a_link_inside_the_tree_is_not_written_to(tree: Path) -> None:
    """The model is told that it is a link, and can write the file itself."""
    (tree / "link.py").symlink_to("src/app.py")
    (tree / "folder").symlink_to("src")
    write, edit = writing_tools(_place(tree))
    for name in ("link.py", "folder/app.py", "folder/new.py"):
        with pytest.raises(ToolError, match=f"{name} is a link, or lies behind one; name the file it leads"):
            write.use({"path": name, "content": "x"})
        with pytest.raises(ToolError, match=f"{name} is a link, or lies behind one|there is no file"):
            edit.use({"path": name, "old": "1", "new": "2"})
    assert (tree / "src" / "app.py").read_text() == "print(1)\n"
    assert edit.use({"path": "src/app.py", "old": "1", "new": "2"}) == "edited src/app.py"


def test_a_tree_behind_a_link_is_a_tree(tree: Path, tmp_path: Path) -> None:
    """The tree itself may be reached through a link."""
    (tmp_path / "alias").symlink_to(tree)
    assert _read(_place(tmp_path / "alias"), "src/app.py") == "1\tprint(1)"


@pytest.mark.parametrize(
    "way", ["/proc/self/root", "/proc/{pid}/root", "/proc/self/cwd", "/proc/self/fd/{fd}"]
)
def test_a30_the_doors_of_proc_are_shut(tree: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a path through /proc nor a link to it is followed, though it would lead to a secret."""
    monkeypatch.chdir("/")
    slash = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    door = way.format(pid=os.getpid(), fd=slash)
    secret = f"{tree.parent}/secret"
    (tree / "link").symlink_to(door)
    assert (tree / f"link{secret}").read_text() == Path(door + secret).read_text() == "sesame\n"
    _refusals(_place(tree), f"link{secret}")
    _refusals(_place(tree), door + secret)
    os.close(slash)


def test_a30_an_open_file_is_not_reached_by_its_number(tree: Path) -> None:
    """/dev/fd/N is refused, as a path and as a link, though it would lead to a secret."""
    with (tree.parent / "secret").open() as stream:
        door = f"/dev/fd/{stream.fileno()}"
        (tree / "link").symlink_to(door)
        assert (tree / "link").read_text() == "sesame\n"
        _refusals(_place(tree), "link")
        _refusals(_place(tree), door)


GIT = [
    ".git",
    ".GIT",
    ".Git",
    ".git.",
    ".git ",
    ".git. . ",
    "git~1",
    "GIT~1",
    "\uff0egit",
    ".\uff47\uff49\uff54",
    ".g\u200cit",
    "\ufeff.git",
    ".git::$INDEX_ALLOCATION",
]


@pytest.mark.parametrize("name", GIT)
def test_a31_git_is_out_of_reach_however_it_is_spelled(tree: Path, name: str) -> None:
    """A name that some file system takes for .git is refused on every one, though it is there."""
    (tree / "src" / name).mkdir()
    (tree / "src" / name / "config").write_text("sesame\n")
    assert name == ".git" or ".git" not in Path(f"src/{name}/config").parts
    assert _obliging(tree, f"src/{name}/config") == "sesame\n"
    _refusals(_place(tree), f"src/{name}/config")
    _refusals(_place(tree), f"src/{name}")


@pytest.mark.parametrize(
    "name", [".gitignore", ".github/workflows/ci.yml", "git", "a.git", ".gitattributes", "git~10", "x.git.y"]
)
def test_a31_names_that_only_resemble_git_are_allowed(tree: Path, name: str) -> None:
    """A file that merely begins like .git is a file of the tree."""
    writing_tools(_place(tree))[0].use({"path": name, "content": "x\n"})
    assert _read(_place(tree), name) == "1\tx"


@pytest.mark.parametrize("is_shown", [False, True])
def test_a32_a_folder_whose_name_begins_alike_is_another(tree: Path, is_shown: bool) -> None:
    """Paths are compared part by part: /tree-evil does not lie in /tree, though its text begins so."""
    name = f"{tree}-evil/secret"
    assert name.startswith(str(tree))
    assert _obliging(tree, name) == "sesame\n"
    place = _place(tree)
    if is_shown:
        place = Place(tree / "src", tree.parent / "output", shown=tree)
    with pytest.raises(ToolError, match="outside the project"):
        _read(place, name)


def test_a33_no_tool_takes_the_folder_it_works_in(tree: Path) -> None:
    """A model cannot say where a tool begins to look, or widen its tree."""
    place = _place(tree)
    box = unboxed(place.root, place.spill)
    terminal = Terminal(place, box, tree.parent / "log")
    tools = (*reading_tools(place), *searching_tools(place, box), *writing_tools(place), *terminal.tools())
    given = {
        "path": "secret",
        "pattern": "x",
        "content": "",
        "old": "a",
        "new": "b",
        "command": "ls",
        "id": 1,
    }
    for tool in tools:
        arguments = {key: value for key, value in given.items() if key in tool.schema["properties"]}
        for word in ("cwd", "root", "workdir", "shown", "beside"):
            with pytest.raises(ToolError, match="the arguments do not fit"):
                tool.use({**arguments, word: str(tree.parent)})


def test_a33_the_folder_of_the_process_does_not_count(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path begins at the tree wherever the process stands; a wider tree would have the secret."""
    place = _place(tree)
    monkeypatch.chdir(tree.parent)
    assert Path("secret").read_text() == "sesame\n"
    with pytest.raises(ToolError, match="there is no file secret"):
        _read(place, "secret")
    assert _read(_place(tree.parent), "secret") == "1\tsesame"


def test_a33_a_tree_that_is_replaced_stays_the_one_that_was_given(tree: Path) -> None:
    """The tree is held from the beginning: a link that takes its name later leads nowhere."""
    place = _place(tree)
    tree.rename(tree.parent / "moved")
    tree.symlink_to(tree.parent)
    assert (tree / "secret").read_text() == "sesame\n"
    with pytest.raises(ToolError, match="there is no file secret"):
        _read(place, "secret")
    assert _read(place, "src/app.py") == "1\tprint(1)"


@pytest.mark.parametrize("name", ["{shown}/src/app.py", "{tree}/src/app.py", "src/app.py"])
def test_a_path_may_be_named_as_commands_see_it(tree: Path, name: str) -> None:
    """Where commands see the tree elsewhere, both names lead to the same file."""
    shown = Path("/somewhere/project")
    place = Place(tree, tree.parent / "output", shown=shown)
    path = name.format(shown=shown, tree=tree)
    assert _read(place, path) == "1\tprint(1)"
    writing_tools(place)[1].use({"path": path, "old": "1", "new": "2"})
    assert place.touched == ["src/app.py"]
    assert (tree / "src" / "app.py").read_text() == "print(2)\n"
    assert _search(place, "print", path) == "src/app.py:1: print(2)"


@pytest.mark.parametrize("name", ["/somewhere", "/somewhere/else", "/somewhere/project/../x", "/"])
def test_what_lies_beside_the_place_commands_see_is_refused(tree: Path, name: str) -> None:
    """Only what lies below it is taken for the tree."""
    with pytest.raises(ToolError, match="outside the project"):
        _read(Place(tree, tree.parent / "output", shown=Path("/somewhere/project")), name)


@pytest.fixture(params=["link", "folder"])
def packages(tree: Path, request: pytest.FixtureRequest) -> Place:
    """A place with packages beside its tree, which has a link to them, or an empty folder for them."""
    real = tree.parent / "real" / "node_modules"
    (real / "pad" / "lib").mkdir(parents=True)
    (real / "pad" / "lib" / "left.js").write_text("needle\n")
    (real / ".bin").mkdir()
    (real / ".bin" / "pad").symlink_to("../pad/lib/left.js")
    (real / "out").symlink_to("../../secret")
    (real / "away").symlink_to(tree.parent)
    if request.param == "link":
        (tree / "node_modules").symlink_to(real)
    else:
        (tree / "node_modules").mkdir()
    return Place(tree, tree.parent / "output", shown=Path("/shown"), beside={"node_modules": real})


@pytest.mark.parametrize("above", ["", "/shown/", "{tree}/"])
def test_what_lies_beside_the_tree_can_be_read(packages: Place, above: str) -> None:
    """A folder beside the tree is read as if it lay in it, with the links it has within."""
    top = above.format(tree=packages.root)
    assert _read(packages, f"{top}node_modules/pad/lib/left.js") == "1\tneedle"
    assert _read(packages, f"{top}node_modules/.bin/pad") == "1\tneedle"
    assert _read(packages, f"{top}node_modules") == ".bin/\naway\nout\npad/"
    assert _read(packages, f"{top}node_modules/pad") == "lib/"
    assert _read(packages, top or ".") == "node_modules/\nsrc/"


@pytest.mark.parametrize("name", ["out", "away/secret"])
def test_a27_a_link_beside_the_tree_leads_nowhere(packages: Place, name: str) -> None:
    """The same rules hold for what lies beside the tree."""
    real = packages.beside["node_modules"]
    assert (real / name).read_text() == "sesame\n"
    with pytest.raises(ToolError, match=f"node_modules/{name} leads out of the project"):
        _read(packages, f"node_modules/{name}")


@pytest.mark.parametrize("name", ["node_modules", "node_modules/pad/lib/left.js", "node_modules/new.js"])
def test_what_lies_beside_the_tree_is_never_written(packages: Place, name: str) -> None:
    """Neither tool that writes changes anything there."""
    write, edit = writing_tools(packages)
    before = sorted(os.walk(packages.root.parent))
    with pytest.raises(ToolError, match="can only be read"):
        write.use({"path": name, "content": "x"})
    with pytest.raises(ToolError, match="can only be read"):
        edit.use({"path": name, "old": "needle", "new": "x"})
    assert sorted(os.walk(packages.root.parent)) == before


def test_what_lies_beside_the_tree_is_searched_when_it_is_named(tree: Path, packages: Place) -> None:
    """Where commands reach it by its name in the tree, a search there finds, and one of all leaves it out."""
    if not (tree / "node_modules").is_symlink():
        (tree / "node_modules").rmdir()
        (tree / "node_modules").symlink_to(packages.beside["node_modules"])
    hit = "node_modules/pad/lib/left.js:1: needle"
    for path in ("node_modules", "node_modules/pad", "node_modules/pad/lib/left.js"):
        assert _search(packages, "needle", path) == hit
        assert _search(packages, "", path) == "node_modules/pad/lib/left.js"
    assert _search(packages, "needle|sesame", ".") == "nothing found"


def test_a_folder_beside_the_tree_that_is_a_link_is_not_taken(tree: Path) -> None:
    """What is given as a folder and is a link to one leads nowhere."""
    (tree.parent / "venv").symlink_to("tree-evil")
    place = Place(tree, tree.parent / "output", beside={"venv": tree.parent / "venv"})
    with pytest.raises(ToolError, match="there is no file"):
        _read(place, "venv/secret")
    honest = Place(tree, tree.parent / "output", beside={"venv": tree.parent / "tree-evil"})
    assert _read(honest, "venv/secret") == "1\tsesame"


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
