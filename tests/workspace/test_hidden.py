"""Exported trees that lack some files: left out is not removed."""

from pathlib import Path

import pytest

from harness_executor.workspace.export import Desk
from tests.workspace.repositories import contents, desk_of, head, new_repository, write

FILES = {
    "app.py": "print()\n",
    ".env": "KEY=canary\n",
    "certs/a.pem": "one\n",
    "certs/b.pem": "two\n",
    "odd/caf\udce9.pem": "latin\n",
}


def hides(name: str) -> bool:
    """What these tests keep back."""
    return name == ".env" or name.endswith(".pem")


@pytest.fixture
def secretive(tmp_path: Path) -> Desk:
    """A desk over a repository with secrets in it."""
    return desk_of(new_repository(tmp_path / "secretive", FILES))


def changed(desk: Desk, work: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the work is a change of."""
    return desk.names(head(desk), desk.snapshot(work, head(desk), without=hides))


def work_on(desk: Desk) -> Path:
    """The tree without what is hidden."""
    return desk.export(head(desk), desk.path / "work", without=hides)


def test_a57_what_is_hidden_is_not_there(secretive: Desk) -> None:
    """Only the rest is written; without a word about it, everything is."""
    assert set(contents(work_on(secretive))) == {b"app.py"}
    assert len(contents(secretive.export(head(secretive), secretive.path / "all"))) == 5


def test_leaving_out_is_not_removing(secretive: Desk) -> None:
    """The tree that comes back is the same tree, byte for byte; without the word, it would lose files."""
    work = work_on(secretive)
    assert secretive.snapshot(work, head(secretive), without=hides) == head(secretive)
    assert secretive.snapshot(work, head(secretive)) != head(secretive)


def test_work_beside_hidden_files_is_a_change_of_its_own_files(secretive: Desk) -> None:
    """What was edited, added and removed is the change; hidden files stay."""
    work = work_on(secretive)
    write(work, {"app.py": "print(1)\n", "certs/readme.md": "new\n"})
    assert changed(secretive, work) == (("app.py",), ("certs/readme.md",))
    (work / "app.py").unlink()
    assert changed(secretive, work) == (("app.py",), ("certs/readme.md",))


def test_a_file_written_in_the_place_of_a_hidden_one_is_a_change(secretive: Desk) -> None:
    """Whoever writes a hidden file is seen to have written it."""
    work = work_on(secretive)
    write(work, {".env": "KEY=mine\n", "new.pem": "x\n"})
    assert changed(secretive, work) == ((".env",), ("new.pem",))


def test_a_file_or_link_in_the_place_of_their_folder_is_a_change(secretive: Desk) -> None:
    """A folder of hidden files that became something else is seen, and breaks nothing."""
    work = work_on(secretive)
    (work / "certs").write_text("a file now\n")
    (work / "odd").symlink_to("certs")
    gone, new = changed(secretive, work)
    assert {"certs/a.pem", "certs/b.pem"} < set(gone)
    assert set(new) == {"certs", "odd"}


def test_a_folder_in_the_place_of_a_hidden_file_is_a_change(secretive: Desk) -> None:
    """The other way round too."""
    work = work_on(secretive)
    write(work, {".env/x": "y\n"})
    assert changed(secretive, work) == ((".env",), (".env/x",))


def test_says_what_is_held_back(secretive: Desk) -> None:
    """Names and texts of hidden files can be asked for."""
    held = secretive.held_back(head(secretive), hides)
    assert held[".env"] == "KEY=canary\n"
    assert set(held) == {".env", "certs/a.pem", "certs/b.pem", "odd/caf\ufffd.pem"}
    assert secretive.held_back(head(secretive), lambda _name: False) == {}
