"""Files are read within bounds, and no link is followed."""

import os
from itertools import pairwise
from pathlib import Path

import pytest

from harness_executor.workspace.detect import reading
from harness_executor.workspace.detect.reading import Files, section
from tests.workspace.detect.trees import grow


def test_no_link_is_followed(tmp_path: Path) -> None:
    """Neither a link to a file nor one to a folder is part of a project."""
    outside = grow(tmp_path / "outside", {"secret.py": "key = 1", "inner/x.py": ""})
    root = grow(tmp_path / "project", {"app.py": "x = 1"})
    (root / "link.py").symlink_to(outside / "secret.py")
    (root / "folder").symlink_to(outside / "inner")
    files = Files(root)
    assert files.names == ("app.py",)
    assert files.text("link.py") == ""


def test_packages_and_environments_are_passed_over(tmp_path: Path) -> None:
    """node_modules, and any folder that is a virtual environment, are not the project's own."""
    files = {"node_modules/a/index.js": "", "myenv/pyvenv.cfg": "", "myenv/lib/x.py": "", "a.py": ""}
    assert Files(grow(tmp_path, files)).names == ("a.py",)


def test_large_files_are_read_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file and all files together have a limit."""
    monkeypatch.setattr(reading, "MOST_BYTES", 10)
    monkeypatch.setattr(reading, "MOST_READ", 15)
    files = Files(grow(tmp_path, {"a.txt": "x" * 100, "b.txt": "y" * 100, "c.txt": "z"}))
    assert [len(files.text(name)) for name in ("a.txt", "b.txt", "c.txt")] == [10, 5, 0]


def test_pipes_and_binaries_do_not_hang_or_count(tmp_path: Path) -> None:
    """A named pipe is not opened for waiting, and what holds NUL is no text."""
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "blob.py").write_bytes(b"a\0b")
    files = Files(tmp_path)
    assert files.names == ("blob.py",)
    assert files.text("blob.py") == ""


def test_damaged_data_is_empty(tmp_path: Path) -> None:
    """JSON, TOML and YAML that cannot be read are empty tables."""
    deep = "[" * 100_000
    files = Files(grow(tmp_path, {"a.json": deep, "b.toml": "= 1", "c.yml": "a: [", "d.json": "[1]"}))
    assert [files.json("a.json"), files.toml("b.toml"), files.yaml("c.yml"), files.json("d.json")] == [{}] * 4
    assert section({"a": {"b": {"c": 1}}}, "a", "b") == {"c": 1}
    assert section({"a": 3}, "a", "b") == {}


ALIASES = "".join(f"{two}: &{two} [{', '.join([f'*{one}'] * 9)}]\n" for one, two in pairwise("abcdefghij"))
MERGED = "".join(
    f"{two}: &{two} {{<<: [{', '.join([f'*{one}'] * 9)}]}}\n" for one, two in pairwise("abcdefghij")
)


@pytest.mark.parametrize(
    "text",
    [
        f"a: &a [x]\n{ALIASES}",
        f"a: &a {{x: 1}}\n{MERGED}",
        "a: &a\n  b: *a\n",
        "a: 0x" + "f" * 5_000,
    ],
    ids=["lists", "merges", "itself", "number"],
)
def test_data_without_end_is_left_out_and_said(tmp_path: Path, text: str) -> None:
    """Aliases that stand for a billion values, for themselves, and numbers that cannot be written."""
    files = Files(grow(tmp_path, {"a.yml": text}))
    assert [files.yaml("a.yml"), files.yaml("a.yml")] == [{}, {}]
    assert files.notes == ("a.yml is left out: what it says is deeper or longer than any settings are",)


def test_aliases_within_bounds_are_read(tmp_path: Path) -> None:
    """What a compose file says once for several services is said of each."""
    text = "x: &x {image: a}\nservices:\n  b: {<<: *x, ports: !override [1]}\n  c: *x\n"
    files = Files(grow(tmp_path, {"a.yml": text}))
    assert files.yaml("a.yml")["services"] == {"b": {"image": "a", "ports": [1]}, "c": {"image": "a"}}
    assert files.notes == ()


@pytest.mark.parametrize(
    "tag", ["!!bool x", "!!timestamp x", "!!int ''", "!!float x", "!!set [a]", "2020-13-45"]
)
def test_data_that_is_not_what_it_says_is_damaged(tmp_path: Path, tag: str) -> None:
    """A tag of YAML that its value does not fit, and numbers that are too long for Python."""
    files = Files(
        grow(tmp_path, {"a.yml": f"a: {tag}\n", "b.toml": "a = " + "1" * 5_000, "c.json": "1" * 5_000})
    )
    assert [files.yaml("a.yml"), files.toml("b.toml"), files.json("c.json")] == [{}] * 3


def test_the_first_folder_does_not_hide_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of too many files those nearest to the root are looked at, and that is said."""
    monkeypatch.setattr(reading, "MOST_FILES", 5)
    deep = {f"a/deep/deeper/{number}.py": "" for number in range(20)}
    files = Files(grow(tmp_path, {**deep, "z/app.py": "", "z/deep/b.py": "", "setup.py": ""}))
    assert files.names[:3] == ("setup.py", "z/app.py", "z/deep/b.py")
    assert len(files.names) == 5
    assert files.notes == ("only the 5 files nearest to the root are looked at",)
