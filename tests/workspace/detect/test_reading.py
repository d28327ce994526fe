"""Files are read within bounds, and no link is followed."""

import os
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
