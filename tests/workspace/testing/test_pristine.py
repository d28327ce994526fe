"""The change with the tests of base, and with the way base runs them."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness_executor.workspace.export import open_desk
from harness_executor.workspace.repository import open_repository
from harness_executor.workspace.testing.pristine import pristine_tree
from tests.conftest import commit_all, git

BASE = {
    "app.py": "old\n",
    "tests/test_a.py": "base\n",
    "tests/data.json": "1\n",
    "conftest.py": "base\n",
    "pyproject.toml": '[project]\nname = "x"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    "package.json": '{"scripts": {"test": "jest"}, "dependencies": {}}\n',
}


def mixed(
    tmp_path: Path, changes: Mapping[str, str | None], base: Mapping[str, str] = BASE
) -> dict[str, str]:
    """The files of the change with the tests of base; an empty mapping if that is the change itself."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    for files in (base, changes):
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_text(text)
        commit_all(root, "Work")
    old, change = (git(root, "rev-parse", f"{ref}^{{tree}}").strip() for ref in ("HEAD~1", "HEAD"))
    desk = open_desk(open_repository(root), tmp_path / "desk")
    tree = pristine_tree(desk, old, change)
    if tree == change:
        return {}
    place = desk.export(tree, tmp_path / "out")
    return {
        path.relative_to(place).as_posix(): path.read_text() for path in place.rglob("*") if path.is_file()
    }


def test_code_is_the_change_and_tests_are_base(tmp_path: Path) -> None:
    """Edited and deleted tests are back, new ones are away, and the program is as it was changed."""
    changes = {
        "app.py": "new\n",
        "tests/test_a.py": "edited\n",
        "tests/data.json": None,
        "tests/test_b.py": "b\n",
    }
    found = mixed(tmp_path, changes)
    assert found == {**BASE, "app.py": "new\n"}


def test_what_only_tests_use_is_base(tmp_path: Path) -> None:
    """A module beside the program that asserts, and that tests import, is put back."""
    checks = {"checks.py": "def right(value):\n    assert value\n", "tests/test_a.py": "import checks\n"}
    changes = {"app.py": "new\n", "checks.py": "def right(value):\n    pass\n"}
    found = mixed(tmp_path, changes, {**BASE, **checks})
    assert found == {**BASE, **checks, "app.py": "new\n"}


def test_what_steers_tests_is_base(tmp_path: Path) -> None:
    """A changed conftest.py is put back, and a new pytest.ini taken away."""
    found = mixed(tmp_path, {"conftest.py": "trick\n", "pytest.ini": "[pytest]\n", "app.py": "new\n"})
    assert found == {**BASE, "app.py": "new\n"}


def test_a_manifest_keeps_what_has_nothing_to_do_with_tests(tmp_path: Path) -> None:
    """Scripts are those of base, dependencies those of the change."""
    text = '{"scripts": {"test": "true"}, "dependencies": {"a": "1"}, "jest": {"testMatch": []}}\n'
    found = mixed(tmp_path, {"package.json": text})
    assert json.loads(found["package.json"]) == {"scripts": {"test": "jest"}, "dependencies": {"a": "1"}}


@pytest.mark.parametrize(
    "changes",
    [
        {"app.py": "new\n"},
        {"pyproject.toml": BASE["pyproject.toml"].replace('"x"', '"y"')},
        {"package.json": '{"scripts": {"test": "jest"}, "dependencies": {"a": "1"}}\n'},
    ],
)
def test_a_change_that_leaves_tests_alone_is_itself(changes: dict[str, str], tmp_path: Path) -> None:
    """Nothing has to be run a third time."""
    assert mixed(tmp_path, changes) == {}


def test_options_of_pytest_in_a_manifest_bring_the_whole_file_back(tmp_path: Path) -> None:
    """A table that steers tests, or a file that cannot be read, is taken from base."""
    narrowed = BASE["pyproject.toml"].replace("-q", "-k nothing")
    assert mixed(tmp_path, {"pyproject.toml": narrowed})["pyproject.toml"] == BASE["pyproject.toml"]


def test_a_folder_of_tests_that_became_a_file_is_a_folder_again(tmp_path: Path) -> None:
    """What stands in the way of base's tests makes room for them."""
    found = mixed(tmp_path, {"tests/test_a.py": None, "tests/data.json": None, "app.py": "new\n"})
    assert found == {**BASE, "app.py": "new\n"}
