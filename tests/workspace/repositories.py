"""Repositories to work on, and a way to see that nobody touched them."""

import hashlib
import os
import stat
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from harness_executor.workspace.export import Desk, open_desk
from harness_executor.workspace.repository import open_repository
from tests.conftest import commit_all, git

WHEN = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)

Files = Mapping[str, str | bytes]


def write(folder: Path, files: Files) -> None:
    """Put files into a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def new_repository(path: Path, files: Files | None = None, *options: str) -> Path:
    """A repository with one commit."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=main", *options)
    write(path, files or {"a.txt": "one\n"})
    commit_all(path, "first")
    return path


def desk_of(repository: Path) -> Desk:
    """A desk beside a repository."""
    return open_desk(open_repository(repository), repository.parent / f"{repository.name}-desk")


def head(desk: Desk) -> str:
    """The tree of the user's HEAD."""
    return desk.repository.tree_of("HEAD")


def round_trip(desk: Desk, branch: str = "harness/x") -> tuple[str, str]:
    """Everything the harness does to a repository in one task; the new tree and the commit."""
    start = head(desk)
    work = desk.export(start, desk.path / "work")
    (work / "added.txt").write_text("added\n")
    tree = desk.snapshot(work, start)
    desk.diff(start, tree)
    desk.names(start, tree)
    desk.state_files(work)
    desk.is_dirty()
    desk.repository.check_branch(branch)
    commit = desk.commit(tree, desk.repository.resolve("HEAD"), "Add a file\n", WHEN)
    desk.repository.move_branch(branch, commit, None)
    return tree, commit


def fingerprint(repository: Path) -> dict[str, str]:
    """Every file of a repository as it is, but for the objects and the branches of the harness."""
    found = {}
    for parent, folders, files in os.walk(repository):
        place = Path(parent)
        if place.name == ".git":
            folders[:] = [name for name in folders if name != "objects"]
        if place.name == "heads":
            folders[:] = [name for name in folders if name != "harness"]
        for name in (*folders, *files):
            found[str(place / name)] = _state(place / name)
    return found


def _state(path: Path) -> str:
    about = path.lstat()
    mode = oct(about.st_mode)
    if path.is_symlink():
        return f"{mode} -> {path.readlink()}"
    if not stat.S_ISREG(about.st_mode):
        return mode
    return f"{mode} {about.st_mtime_ns} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def contents(folder: Path) -> dict[bytes, bytes]:
    """The files of a folder, names and contents as bytes."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for path in (Path(parent, name) for name in (*folders, *files)):
            name = os.fsencode(path.relative_to(folder))
            if path.is_symlink():
                found[name] = os.fsencode(path.readlink())
            elif path.is_file():
                found[name] = path.read_bytes()
    return found
