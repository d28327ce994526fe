"""The lines that a change adds, each with its number."""

from pathlib import Path

from harness_executor.workspace.additions import Addition, additions
from tests.conftest import commit_all, git
from tests.workspace.repositories import desk_of, new_repository


def _added(tmp_path: Path, before: dict[str, bytes], after: dict[str, bytes]) -> list[Addition]:
    repo = new_repository(tmp_path / "repo")
    trees = []
    for files in (before, after):
        for name, content in files.items():
            (repo / name).write_bytes(content)
        commit_all(repo, "next")
        trees.append(git(repo, "rev-parse", "HEAD^{tree}"))
    return list(additions(desk_of(repo), *trees))


def test_only_what_is_new_is_told(tmp_path: Path) -> None:
    """Changed and added lines are told where they stand; lines that stay or go are not."""
    before = {"a.txt": b"one\ntwo\nthree\nfour\nfive\n", "gone.txt": b"x\n", "kept.txt": b"y\n"}
    after = {"a.txt": b"one\nTWO\n2b\nthree\nfour\nsix\n", "gone.txt": b"", "new.txt": b"all\nnew\n"}
    assert _added(tmp_path, before, after) == [
        Addition("a.txt", 2, "TWO\n2b"),
        Addition("a.txt", 6, "six"),
        Addition("new.txt", 1, "all\nnew"),
    ]


def test_lines_that_look_like_a_difference_are_lines(tmp_path: Path) -> None:
    """A file that holds a difference itself confuses nobody."""
    content = b"+++ b/other.txt\n@@ -1 +9 @@\n-gone\ndiff --git a b\n++ x\n"
    (found,) = _added(tmp_path, {"a.txt": b"-- one\n"}, {"a.txt": content})
    assert found == Addition("a.txt", 1, content.decode().rstrip("\n"))


def test_files_of_every_kind_are_read(tmp_path: Path) -> None:
    """What git would call binary is shown too, and an odd name is a name."""
    files = {"b.bin": b"\0\xff key \n\0", "with space": b"no line end", "t\tab": b"tab\n"}
    found = {added.path: added.text for added in _added(tmp_path, {"a": b"a\n"}, files)}
    assert "key" in found["b.bin"]
    assert found["with space"] == "no line end"
    assert "tab\n".strip() in found.values()


def test_no_change_adds_nothing(tmp_path: Path) -> None:
    """Equal trees have no additions."""
    repo = new_repository(tmp_path / "repo")
    tree = git(repo, "rev-parse", "HEAD^{tree}")
    assert list(additions(desk_of(repo), tree, tree)) == []
