"""Opens what lies below a folder; what leads out of it is refused in the moment of opening."""

import errno
import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_executor.tools.base import Place
from harness_executor.tools.beneath import FOLDER, LOOK, READ, Opener, Root, by_kernel, by_walking, hold
from tests.tools import racing
from tests.tools.racing import Score

Rooted = Callable[[Path], Root]


@pytest.fixture(params=[by_kernel, by_walking])
def rooted(request: pytest.FixtureRequest) -> Rooted:
    """Both ways to open, under one contract."""
    opener: Opener = request.param
    return lambda path: Root(os.open(path, LOOK | os.O_DIRECTORY), opener)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a file and links, next to a secret that is not in it."""
    tree = tmp_path / "tree"
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "a" / "b" / "file").write_text("inside")
    (tmp_path / "secret").write_text("sesame")
    links = {
        "a/near": "b/file",
        "a/folder": "b",
        "up": "a/b/../near",
        "a/b/back": "../..",
        "here": ".",
        "chain": "up",
        "slashes": ".//a///b/./file",
    }
    for name, target in links.items():
        (tree / name).symlink_to(target)
    return tree


def _text(root: Root, name: str, *, links: bool = True) -> str:
    with os.fdopen(root.open(name, READ, links=links), encoding="utf-8") as stream:
        return stream.read()


def _code(root: Root, name: str, flags: int = READ, *, links: bool = True) -> str:
    """The name of the error a path is refused with."""
    with pytest.raises(OSError, match=r".") as caught:
        os.close(root.open(name, flags, links=links))
    return errno.errorcode[caught.value.errno or 0]


@pytest.mark.parametrize("name", ["a/b/file", "./a//b/./file"])
@pytest.mark.parametrize("links", [False, True])
def test_a_path_without_links_is_opened(tree: Path, rooted: Rooted, name: str, links: bool) -> None:
    """A plain file is opened, whether links are allowed or not."""
    assert _text(rooted(tree), name, links=links) == "inside"


@pytest.mark.parametrize(
    "name", ["a/near", "a/folder/file", "up", "chain", "slashes", "here/here/a/near", "a/b/back/a/b/file"]
)
def test_a_link_that_stays_below_is_followed_if_that_is_allowed(
    tree: Path, rooted: Rooted, name: str
) -> None:
    """Links within the tree lead to its files for who may follow them, and are ELOOP for who may not."""
    assert _text(rooted(tree), name) == "inside"
    assert _code(rooted(tree), name, links=False) == "ELOOP"
    assert _code(rooted(tree), name, LOOK, links=False) == "ELOOP"


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("../secret", "link"),
        ("{above}/secret", "link"),
        ("{tree}/a/b/file", "link"),
        ("..", "link/secret"),
        ("a/b/../../../secret", "link"),
        ("a/b/back/../secret", "link"),
        ("/proc/self/root{above}", "link/secret"),
    ],
)
def test_a27_a_link_that_leads_out_is_refused_in_any_case(
    tree: Path, rooted: Rooted, target: str, name: str
) -> None:
    """What is absolute or climbs out is EXDEV, or ELOOP for who may follow none; a plain reader follows."""
    (tree / "link").symlink_to(target.format(above=tree.parent, tree=tree))
    assert (tree / name).read_text() in ("sesame", "inside")
    for flags in (READ, LOOK):
        assert _code(rooted(tree), name, flags) == "EXDEV"
        assert _code(rooted(tree), name, flags, links=False) == "ELOOP"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("../secret", "EXDEV"),
        ("a/../../secret", "EXDEV"),
        ("/etc/passwd", "EXDEV"),
        ("absent", "ENOENT"),
        ("absent/file", "ENOENT"),
        ("a/b/file/more", "ENOTDIR"),
        ("loop", "ELOOP"),
        ("x" * 300, "ENAMETOOLONG"),
    ],
)
def test_both_ways_refuse_with_the_same_error(tree: Path, rooted: Rooted, name: str, code: str) -> None:
    """What is missing, too long or a ring of links is told as the kernel tells it."""
    (tree / "loop").symlink_to("loop")
    assert _code(rooted(tree), name) == code


@pytest.mark.parametrize("name", ["root/etc/passwd", "cwd", "fd/{fd}", "exe"])
def test_a30_links_that_the_kernel_makes_are_not_followed(tree: Path, rooted: Rooted, name: str) -> None:
    """In /proc itself nothing leads out, though everything would."""
    with (tree.parent / "secret").open() as stream:
        name = name.format(fd=stream.fileno())
        assert Path(f"/proc/{os.getpid()}/{name}").exists()
        assert _code(rooted(Path(f"/proc/{os.getpid()}")), name) in ("ELOOP", "EXDEV")
    assert _text(rooted(Path(f"/proc/{os.getpid()}")), "comm").strip()


def test_a_folder_of_a_root_is_a_root(tree: Path, rooted: Rooted) -> None:
    """What lies above a folder that was opened as a root is out of its reach."""
    below = rooted(tree).below("a/folder")
    assert _text(below, "file") == "inside"
    assert _code(below, "back") == "EXDEV"
    assert _code(below, "../near") == "EXDEV"


def test_says_what_is_there(tree: Path, rooted: Rooted) -> None:
    """Files and folders are told apart, through links of the tree too, and what leads out is not there."""
    (tree / "out").symlink_to("..")
    root = rooted(tree)
    kinds = {name: (root.has_file(name), root.has_folder(name), root.has(name)) for name in _NAMES}
    assert kinds == _NAMES


_NAMES = {
    "a/b/file": (True, False, True),
    "a/near": (True, False, True),
    "a/folder": (False, True, True),
    ".": (False, True, True),
    "absent": (False, False, False),
    "out": (False, False, False),
    "out/secret": (False, False, False),
}


def test_no_descriptor_is_left(tree: Path, rooted: Rooted) -> None:
    """Whatever is opened or refused, and when a root is gone, nothing stays open."""
    gc.collect()
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a list
    root = rooted(tree)
    for name in (*_NAMES, "chain", "loop", "../x", "a/b/back/../x"):
        root.has(name)
    del root
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - a list


def test_a_folder_is_opened_to_be_listed(tree: Path, rooted: Rooted) -> None:
    """The entries of a folder come from its descriptor; a file is none."""
    folder = rooted(tree).open("a", FOLDER)
    with os.scandir(folder) as found:
        assert {entry.name for entry in found} == {"b", "near", "folder"}
    os.close(folder)
    assert _code(rooted(tree), "a/b/file", FOLDER) == "ENOTDIR"


def test_a_link_is_not_held_where_a_folder_is_wanted(tree: Path) -> None:
    """Who may not follow is not led anywhere by the last part of a path of the machine."""
    (tree.parent / "alias").symlink_to(tree)
    assert _text(hold(tree.parent / "alias"), "a/b/file") == "inside"
    with pytest.raises(NotADirectoryError):
        hold(tree.parent / "alias", follow=False)


_WITHOUT = """
import ctypes, struct, sys
refuse, allow = 0x50000 | int(sys.argv[1]), 0x7FFF0000
rows = ((0x20, 0, 0, 0), (0x15, 0, 1, 437), (0x06, 0, 0, refuse), (0x06, 0, 0, allow))
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, prog) == 0
from pathlib import Path
from harness_executor.tools.beneath import opener_of_this_machine
from harness_executor.tools.base import Place, ToolError
from harness_executor.tools.files import reading_tools
print(opener_of_this_machine().__name__)
(read,) = reading_tools(Place(Path(sys.argv[2]), Path(sys.argv[2])))
print(read.use({"path": "chain"}))
try:
    read.use({"path": "out"})
except ToolError as error:
    print(error)
"""


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EPERM], ids=["missing", "forbidden"])
def test_where_the_kernel_cannot_the_way_in_steps_is_taken(tree: Path, code: int) -> None:
    """An old kernel has no openat2, and some containers forbid it; files are read, and the secret is not."""
    (tree / "out").symlink_to("../secret")
    words = [sys.executable, "-c", _WITHOUT, str(code), str(tree)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == ["by_walking", "1\tinside", "out leads out of the project"]


def _raced(tmp_path: Path, opener: Opener, attempts: int) -> Score:
    ring = racing.make_ring(tmp_path)
    place = Place(ring.tree, tmp_path / "output")
    object.__setattr__(place, "tree", Root(os.open(ring.tree, LOOK | os.O_DIRECTORY), opener))
    return racing.race(ring, racing.tool_acts(place), attempts)


@pytest.mark.parametrize(("opener", "attempts"), [(by_kernel, 20_000), (by_walking, 8000)])
def test_a28_a_parent_that_is_swapped_for_a_link_leads_nowhere(
    tmp_path: Path, opener: Opener, attempts: int
) -> None:
    """While a folder and a link change places all the time, no write, edit or read leaves the tree."""
    score = _raced(tmp_path / "ours", opener, attempts)
    assert (score.attempts, score.escapes) == (attempts, 0)
    assert 0 < score.done < attempts
    ring = racing.make_ring(tmp_path / "control")
    assert racing.race(ring, [racing.careless_act(ring)], 300_000, enough=1).escapes == 1
