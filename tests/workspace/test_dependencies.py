"""Folders with installed packages: where they are, and which changes are about them."""

from pathlib import Path

import pytest

from harness_executor.workspace.dependencies import beside, installs
from harness_executor.workspace.export import Desk
from tests.workspace.repositories import desk_of, head, new_repository, write


def work_on(desk: Desk) -> Path:
    """The last commit, exported."""
    return desk.export(desk.repository.tree_of(head(desk)), desk.path / "work")


def test_folders_with_packages_are_found_by_their_place(tmp_path: Path) -> None:
    """Those of the project, and those of packages in it, down to three folders."""
    write(
        tmp_path,
        {
            "node_modules/a/index.js": "",
            ".venv/pyvenv.cfg": "",
            "packages/web/node_modules/b/index.js": "",
            "services/api/venv/pyvenv.cfg": "",
            "one/two/three/node_modules/c/index.js": "",
            ".hidden/node_modules/d/index.js": "",
            "build/node_modules/e/index.js": "",
        },
    )
    names = ("node_modules", ".venv", "packages/web/node_modules", "services/api/venv")
    assert beside(tmp_path) == {name: tmp_path / name for name in names}


def test_env_counts_only_if_it_is_an_environment(tmp_path: Path) -> None:
    """Projects call other things env too."""
    write(tmp_path, {"env/pyvenv.cfg": "", "api/env/settings.py": ""})
    assert set(beside(tmp_path)) == {"env"}
    assert installs(["requirements.txt"], ["env"]) == {"env"}


def test_packages_of_packages_are_part_of_them(tmp_path: Path) -> None:
    """A folder within a folder with packages is not looked at."""
    write(tmp_path, {"node_modules/a/node_modules/b/index.js": "", ".venv/lib/node_modules/x": ""})
    assert set(beside(tmp_path)) == {"node_modules", ".venv"}


def test_links_and_files_are_no_folders_with_packages(tmp_path: Path) -> None:
    """A link is not followed, except to a virtual environment; a file of such a name is a file."""
    write(tmp_path, {"away/node_modules/a/index.js": "", "project/venv": "not a folder"})
    (tmp_path / "project/node_modules").symlink_to(tmp_path / "away/node_modules")
    (tmp_path / "project/packages").symlink_to(tmp_path / "away")
    assert beside(tmp_path / "project") == {}
    assert beside(tmp_path / "nothing") == {}


def test_links_to_virtual_environments_count(tmp_path: Path) -> None:
    """Some tools keep the environments of all projects in one place, and link to them."""
    write(tmp_path, {"kept/one/pyvenv.cfg": "", "secrets/key": "", "project/api/app.py": ""})
    (tmp_path / "project/.venv").symlink_to(tmp_path / "kept/one")
    (tmp_path / "project/api/env").symlink_to(tmp_path / "kept/one")
    (tmp_path / "project/venv").symlink_to(tmp_path / "secrets")
    (tmp_path / "project/api/more").symlink_to(tmp_path / "kept")
    assert set(beside(tmp_path / "project")) == {".venv", "api/env"}


@pytest.mark.parametrize(
    ("changed", "folders"),
    [
        (["package.json"], {"node_modules", "packages/web/node_modules"}),
        (["packages/web/package.json"], {"node_modules", "packages/web/node_modules"}),
        (["pnpm-lock.yaml", "src/index.js"], {"node_modules", "packages/web/node_modules"}),
        (["services/api/package.json"], {"node_modules"}),
        (["requirements-dev.txt"], {".venv", "services/api/venv"}),
        (["services/api/pyproject.toml"], {".venv", "services/api/venv"}),
        (["packages/web/pyproject.toml"], {".venv"}),
        (["app.py", "docs/package.json.md", "setup.md"], set()),
        ([], set()),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_changed_list_is_about_folders_beside_above_and_below(
    changed: list[str], folders: set[str]
) -> None:
    """In a repository of many packages a list counts for every folder it can be installed in."""
    names = ("node_modules", ".venv", "packages/web/node_modules", "services/api/venv")
    assert installs(changed, names) == folders


def test_a_room_has_what_git_does_not(tmp_path: Path) -> None:
    """Packages that are in git are those of the tree; the others are the user's, shown in their place."""
    repo = new_repository(
        tmp_path / "repo",
        {
            ".gitignore": "/node_modules\nvenv\n",
            "packages/a/node_modules/m.js": "tracked\n",
            "packages/b/index.js": "",
        },
    )
    write(repo, {"node_modules/x/index.js": "", "packages/b/venv/pyvenv.cfg": ""})
    desk = desk_of(repo)
    work = work_on(desk)
    room = desk.room(work)
    assert room.at == repo
    assert room.tree == work
    assert dict(room.beside) == {
        "node_modules": repo / "node_modules",
        "packages/b/venv": repo / "packages/b/venv",
    }
    assert room.copied == frozenset()


def test_a_room_shows_nothing_through_a_link_of_the_tree(tmp_path: Path) -> None:
    """Where the tree has a link or a file, on the way or in the place, nothing is shown."""
    repo = new_repository(tmp_path / "repo", {".gitignore": "node_modules\n", "a.txt": "a\n"})
    write(repo, {"packages/a/node_modules/x.js": "", "node_modules/y.js": "", "b/node_modules/z.js": ""})
    desk = desk_of(repo)
    work = work_on(desk)
    assert len(desk.room(work).beside) == 3, "the control: nothing is in the way"
    (work / "packages").symlink_to(tmp_path)
    (work / "node_modules").symlink_to(tmp_path)
    (work / "b").write_text("a file")
    assert dict(desk.room(work).beside) == {}


def test_a_room_knows_which_packages_the_change_is_about(tmp_path: Path) -> None:
    """Between two trees with another list of packages, the folder takes writes; otherwise it does not."""
    repo = new_repository(tmp_path / "repo", {".gitignore": "node_modules\n", "package.json": "{}\n"})
    write(repo, {"node_modules/x.js": ""})
    desk = desk_of(repo)
    work = work_on(desk)
    base = desk.repository.tree_of("HEAD")
    write(work, {"index.js": ""})
    other = desk.snapshot(work, base)
    write(work, {"package.json": '{"name": "app"}\n'})
    listed = desk.snapshot(work, base)
    assert desk.room(work, old=base, new=base).copied == frozenset()
    assert desk.room(work, old=base, new=other).copied == frozenset()
    assert desk.room(work, old=base, new=listed).copied == {"node_modules"}
