"""Installed copies of a project, and editable installs of it."""

import os
from pathlib import Path

import pytest

from harness_executor.kernel.assurance import Assurance
from harness_executor.sandbox.base import Room
from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.workspace.export import Desk
from harness_executor.workspace.installed import remarks
from tests.workspace.repositories import desk_of, head, new_repository, write

FILES = {
    "src/shop/__init__.py": "",
    "tools/build.py": "",
    "part/pyproject.toml": "[project]\nname = 'part'\n",
    "part/lib/part/__init__.py": "",
    ".gitignore": ".venv\n",
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk over a project with an environment."""
    made = desk_of(new_repository(tmp_path / "project", FILES))
    write(site(made), {"pytest/__init__.py": "", "shop-1.dist-info/RECORD": ""})
    return made


def site(desk: Desk) -> Path:
    """The installed packages of the project."""
    return desk.repository.root / ".venv" / "lib" / "python3.12" / "site-packages"


def room(desk: Desk) -> Room:
    """What a box shows of HEAD."""
    return desk.room(desk.export(head(desk), desk.path / "tree"))


def test_nothing_is_said_where_no_copy_is_installed(desk: Desk) -> None:
    """Other projects run as they would by hand."""
    found = room(desk)
    assert (found.imports, found.linked, remarks(found, Assurance.UNSANDBOXED)) == ((), (), ())
    assert "PYTHONPATH" not in PlainSandbox().open(found).environment()


def test_the_folder_of_a_copy_goes_in_front_of_what_the_project_says(desk: Desk) -> None:
    """Every command imports the tree, and then what environment.json names."""
    write(site(desk), {"shop/__init__.py": ""})
    found = room(desk)
    said = PlainSandbox().open(found).environment({"PYTHONPATH": "more"})
    assert found.imports == ("src",)
    assert said["PYTHONPATH"] == f"{found.tree}/src{os.pathsep}more"
    assert remarks(found, Assurance.SANDBOXED) == (
        "by PYTHONPATH, Python imports from src/ of each side, not from an installed copy",
    )


def test_a_copy_of_a_project_within_the_tree_is_found(desk: Desk) -> None:
    """The folder is the one which that project names."""
    declared = "[tool.setuptools.package-dir]\n'' = 'lib'\n"
    write(desk.repository.root, {"part/pyproject.toml": declared})
    write(site(desk), {"part.py": ""})
    tree = desk.snapshot(desk.repository.root, head(desk))
    assert desk.room(desk.export(tree, desk.path / "tree")).imports == ("part/lib",)


def test_a_change_that_brings_what_is_installed_is_not_in_front(desk: Desk) -> None:
    """What only the change has is no copy: it would stand in for the runner of the tests."""
    work = desk.export(head(desk), desk.path / "tree")
    write(work, {"pytest/__init__.py": ""})
    tree = desk.snapshot(work, head(desk))
    assert desk.room(work, old=head(desk), new=tree).imports == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shop.pth", "{}/src\n"),
        ("__editable___shop_1_finder.py", "MAPPING: dict[str, str] = {{'shop': '{}/src/shop'}}\n"),
    ],
)
def test_an_editable_install_counts_where_the_tree_is_elsewhere(desk: Desk, name: str, text: str) -> None:
    """A box shows the tree at the project's own place, and then nothing has to be said."""
    write(site(desk), {name: text.format(desk.repository.root)})
    found = room(desk)
    assert (found.imports, found.linked) == ((), ("src",))
    assert found.importing({}, found.at) == {}
    assert found.importing({}, found.tree) == {"PYTHONPATH": f"{found.tree}/src"}
    assert remarks(found, Assurance.SANDBOXED) == ()
    assert "working tree" in remarks(found, Assurance.UNSANDBOXED)[0]


def test_what_cannot_be_read_leads_nowhere(desk: Desk) -> None:
    """Files of other tools may hold anything."""
    write(
        site(desk),
        {
            "a.pth": b"\xff\xfe",
            "b.pth": "import sys\n/elsewhere\n",
            "__editable___c_finder.py": "MAPPING: dict = f()\n",
        },
    )
    assert room(desk).linked == ()
