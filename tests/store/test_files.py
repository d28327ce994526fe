"""Files that are either the old one or the new one."""

import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import DiskError
from harness_executor.store.files import append_line, disk_error, write_all, write_atomically


def _failing(code: int) -> Any:
    def fail(*_words: Any, **_options: Any) -> None:
        raise OSError(code, os.strerror(code))

    return fail


def test_replaces_a_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    """The folder is made, the file replaced, and no draft stays behind."""
    path = tmp_path / "a" / "b" / "view.json"
    write_atomically(path, "one")
    write_atomically(path, "two é")
    assert path.read_text(encoding="utf-8") == "two é"
    assert [found.name for found in path.parent.iterdir()] == ["view.json"]


@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EXDEV])
def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    """The failure is named with its file, the old text stays, and no draft is left."""
    path = tmp_path / "view.json"
    write_atomically(path, "old")
    with monkeypatch.context() as world:
        world.setattr(os, call, _failing(code))
        with pytest.raises(DiskError, match=f"cannot write .*view.json: {os.strerror(code)}"):
            write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir() if found.name != "view.json"] == []


def test_a_place_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A file where a folder should be is a failure in words, for both ways of writing."""
    (tmp_path / "file").touch()
    for write in (write_atomically, append_line):
        with pytest.raises(DiskError, match=r"File exists|Not a directory"):
            write(tmp_path / "file" / "view.json", "text")


def test_readers_see_the_old_text_or_the_new(tmp_path: Path) -> None:
    """Never half of a file, never none, while it is being replaced."""
    path = tmp_path / "view.json"
    texts = ["a" * 70_000, "b" * 90_000]
    write_atomically(path, texts[0])

    def replace_often() -> None:
        for number in range(40):
            write_atomically(path, texts[number % 2])

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(replace_often)
        while not writing.done():
            assert path.read_text() in texts
        writing.result()


def test_half_a_surrogate_pair_becomes_its_escape(tmp_path: Path) -> None:
    """A broken emoji of a model makes valid JSON, not a crash."""
    data = {"summary": "done \ud83d"}
    write_atomically(tmp_path / "view.json", json.dumps(data, ensure_ascii=False))
    append_line(tmp_path / "lines.jsonl", json.dumps(data, ensure_ascii=False))
    assert json.loads((tmp_path / "view.json").read_text(encoding="utf-8")) == data
    assert json.loads((tmp_path / "lines.jsonl").read_text(encoding="utf-8")) == data


def test_adds_lines_in_order(tmp_path: Path) -> None:
    """The folder is made, and every line ends."""
    path = tmp_path / "a" / "lines.jsonl"
    for line in ("one", "two", ""):
        append_line(path, line)
    assert path.read_text() == "one\ntwo\n\n"


def test_a_line_never_sticks_to_an_unfinished_one(tmp_path: Path) -> None:
    """What a crash left half-written spoils itself only."""
    path = tmp_path / "lines.jsonl"
    path.write_text('{"a": 1}\n{"b": ')
    append_line(path, '{"c": 3}')
    assert path.read_text() == '{"a": 1}\n{"b": \n{"c": 3}\n'


@pytest.mark.parametrize("call", ["open", "write", "fsync"])
def test_a_line_that_cannot_be_added_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Nothing is claimed to be kept that is not."""
    monkeypatch.setattr(os, call, _failing(errno.ENOSPC))
    with pytest.raises(DiskError, match=r"cannot write .*lines.jsonl: No space left on device"):
        append_line(tmp_path / "lines.jsonl", "one")


def test_writes_every_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few bytes the system takes at a time."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda target, data: write(target, bytes(data)[:3]))
    append_line(tmp_path / "lines.jsonl", "0123456789")
    assert (tmp_path / "lines.jsonl").read_text() == "0123456789\n"
    with (tmp_path / "raw").open("wb") as raw:
        write_all(raw.fileno(), b"")
    assert (tmp_path / "raw").read_bytes() == b""


def test_says_what_to_do_about_a_full_disk() -> None:
    """The words of the system, and a hint."""
    error = disk_error(Path("view.json"), OSError(errno.ENOSPC, "No space left on device"))
    assert error.message == "cannot write view.json: No space left on device"
    assert "harness resume" in error.hint
    assert disk_error(Path("a"), OSError("odd")).message == "cannot write a: odd"


def test_no_link_is_followed_when_a_file_is_written(tmp_path: Path) -> None:
    """Whoever guesses a name cannot have something else written to; a line is not added behind a link."""
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    (tmp_path / "lines").symlink_to(victim)
    with pytest.raises(DiskError):
        append_line(tmp_path / "lines", "theirs")
    (tmp_path / "whole").symlink_to(victim)
    (tmp_path / f".whole.{os.getpid()}.tmp").symlink_to(victim)
    write_atomically(tmp_path / "whole", "theirs\n")
    assert victim.read_text() == "mine\n"
    assert not (tmp_path / "whole").is_symlink()
