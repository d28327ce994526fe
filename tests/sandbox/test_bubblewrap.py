"""What commands of a box find: packages, programs and files of the system."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness_executor.sandbox.base import Box, Command, Room
from harness_executor.sandbox.bubblewrap import Bubblewrap
from harness_executor.sandbox.programs import bubblewraps, can_lay_over, has_overlays

PROGRAMS = {has_overlays(program): program for program in bubblewraps(Path("/nonexistent"))}


@pytest.fixture(params=[True, False], ids=["laid over", "not laid over"])
def sandbox(request: pytest.FixtureRequest) -> Bubblewrap:
    """A program that can lay folders over others, and the same without; one that can ships with us."""
    return Bubblewrap(PROGRAMS[True], overlays=request.param)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The user's project, with installed packages."""
    packages = tmp_path / "project" / "node_modules" / "greet"
    packages.mkdir(parents=True)
    (packages / "index.js").write_text("real")
    (tmp_path / "tree").mkdir()
    return tmp_path / "project"


def room(project: Path, *, copied: bool = False, writable: bool = True) -> Room:
    """A tree for the project."""
    name = "node_modules"
    tree = project.with_name("tree")
    names = frozenset({name} if copied else ())
    return Room(tree, project, {name: project / name}, names, writable=writable)


@contextmanager
def opened(sandbox: Bubblewrap, shown: Room) -> Iterator[Box]:
    """A box for a while."""
    box = sandbox.open(shown)
    try:
        yield box
    finally:
        box.close()


def said(box: Box, command: str, log: Path) -> str:
    """What a command prints."""
    return box.run(Command(("sh", "-c", command), box.root, box.environment(), log), 20.0).output.strip()


WRITE = "echo x > node_modules/greet/index.js; echo y > node_modules/new; cat node_modules/greet/index.js"


def real(project: Path) -> list[str]:
    """What the user's packages look like."""
    inside = sorted(path.name for path in (project / "node_modules").iterdir())
    return [*inside, (project / "node_modules/greet/index.js").read_text()]


def test_packages_whose_list_was_changed_take_writes(
    sandbox: Bubblewrap, project: Path, tmp_path: Path
) -> None:
    """They can be installed anew; the user's own stay as they are, whatever program makes the box."""
    with opened(sandbox, room(project, copied=True)) as box:
        assert said(box, WRITE, tmp_path / "log") == "x"
        assert said(box, "cat node_modules/new", tmp_path / "log") == "y"
    assert real(project) == ["greet", "real"]


def test_packages_take_writes_or_refuse_them(sandbox: Bubblewrap, project: Path, tmp_path: Path) -> None:
    """A server that keeps a cache among its packages works where folders can be laid over others."""
    with opened(sandbox, room(project)) as box:
        came_to = said(box, f"{WRITE} 2>&1", tmp_path / "log")
    assert came_to.endswith("x" if sandbox.overlays else "real")
    assert ("Read-only" in came_to) is not sandbox.overlays
    assert real(project) == ["greet", "real"]


def test_what_was_written_among_packages_is_gone_with_the_box(project: Path, tmp_path: Path) -> None:
    """The next box on the same tree finds them as the user has them."""
    for _ in range(2):
        with opened(Bubblewrap(PROGRAMS[True], overlays=True), room(project)) as box:
            assert said(box, "cat node_modules/greet/index.js", tmp_path / "log") == "real"
            said(box, WRITE, tmp_path / "log")


def test_a_copy_is_thrown_away_with_its_box(project: Path, tmp_path: Path) -> None:
    """What one box wrote among packages is gone for the next, as it is where a folder is laid over them."""
    sandbox = Bubblewrap(PROGRAMS[True], overlays=False)
    with opened(sandbox, room(project, copied=True)) as box:
        said(box, WRITE, tmp_path / "log")
    with opened(sandbox, room(project, copied=True)) as box:
        assert "No such file" in said(box, "cat node_modules/new", tmp_path / "log")
    assert real(project) == ["greet", "real"]


def test_a_copy_has_links_and_leaves_out_what_is_no_file(project: Path, tmp_path: Path) -> None:
    """Links stay links, and a pipe among packages holds nobody up."""
    (project / "node_modules/.bin").mkdir()
    (project / "node_modules/.bin/greet").symlink_to("../greet/index.js")
    os.mkfifo(project / "node_modules/pipe")
    with opened(Bubblewrap(PROGRAMS[True], overlays=False), room(project, copied=True)) as box:
        assert said(box, "readlink node_modules/.bin/greet", tmp_path / "log") == "../greet/index.js"
        assert said(box, "ls node_modules", tmp_path / "log") == "greet"


def test_packages_of_a_tree_to_be_read_are_to_be_read(
    sandbox: Bubblewrap, project: Path, tmp_path: Path
) -> None:
    """Where nothing may be written, packages are no exception."""
    with opened(sandbox, room(project, writable=False)) as box:
        assert "Read-only" in said(box, f"{WRITE} 2>&1", tmp_path / "log")
    assert real(project) == ["greet", "real"]


def test_a_link_that_was_left_in_the_tree_gives_way(
    sandbox: Bubblewrap, project: Path, tmp_path: Path
) -> None:
    """Commands without a box had a link to the packages; in a box they are in their place."""
    shown = room(project)
    (shown.tree / "node_modules").symlink_to(project / "node_modules")
    with opened(sandbox, shown) as box:
        assert said(box, "cat node_modules/greet/index.js", tmp_path / "log") == "real"


def test_a_folder_that_is_not_there_cannot_be_laid_over(tmp_path: Path) -> None:
    """Whether it works is tried, and not believed."""
    assert can_lay_over(PROGRAMS[True], tmp_path, 1)
    assert not can_lay_over(PROGRAMS[True], tmp_path / "gone", 1)


def test_private_keys_of_the_machine_are_not_shown(
    project: Path, sandbox: Bubblewrap, tmp_path: Path
) -> None:
    """Certificates can be checked against; what the machine proves itself with stays away, even from root."""
    assert Path("/etc/ssl/certs").is_dir()
    with opened(sandbox, room(project)) as box:
        seen = said(box, "ls /etc/ssl /etc/pki/tls 2>/dev/null", tmp_path / "log").split()
    assert "certs" in seen
    assert "private" not in seen


def test_programs_in_a_home_that_is_the_project_start(
    sandbox: Bubblewrap, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home under git has its version managers, which git does not know, where they are; twice over."""
    tool = home / ".tools/bin/greet"
    tool.parent.mkdir(parents=True)
    (home / ".tools/lib").mkdir()
    (home / ".netrc").write_text("secret")
    tool.write_text("#!/bin/sh\necho hello from $0\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    (tmp_path / "tree").mkdir()
    for writable in (True, False, True):
        with opened(sandbox, Room(tmp_path / "tree", home, writable=writable)) as box:
            assert said(box, "greet", tmp_path / "log") == f"hello from {tool}"
            assert said(box, "ls -A", tmp_path / "log") == ".tools"


def test_packages_installed_for_the_user_are_found(sandbox: Bubblewrap, home: Path, tmp_path: Path) -> None:
    """What `pip install --user` left is in the home of commands; the rest of the user's home is not."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = home / f".local/lib/{version}/site-packages"
    site.mkdir(parents=True)
    (site / "greet.py").write_text("print('hello from the user')\n")
    (home / ".local/token").write_text("secret")
    (tmp_path / "tree").mkdir()
    with opened(sandbox, Room(tmp_path / "tree", tmp_path / "project")) as box:
        python = box.view.interpreter[0]  # type: ignore[attr-defined]  # only a box that is boxed has it
        assert said(box, f"{python} -c 'import greet'", tmp_path / "log") == "hello from the user"
        assert said(box, "ls -A ~ ~/.local", tmp_path / "log").split() == [
            *("/home/harness:", ".local", "/home/harness/.local:", "lib"),
        ]
