"""Modules that are there for tests alone."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness_executor.workspace.export import open_desk
from harness_executor.workspace.repository import open_repository
from harness_executor.workspace.testing.companions import companions_of
from harness_executor.workspace.trees import list_tree
from tests.conftest import commit_all, git

ASSERTS = "def refused(answer):\n    assert answer == 404\n"
STEERS = "def pytest_runtest_makereport():\n    pass\n"
PROGRAM = "def double(number):\n    return 2 * number\n"
TESTS = "import unittest\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.fail()\n"
NAMED = {"tests/test_a.py": "import beside\n"}


def companions(tmp_path: Path, files: Mapping[str, str]) -> frozenset[str]:
    """Those of all files of a repository."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    commit_all(root, "Work")
    tree = git(root, "rev-parse", "HEAD^{tree}").strip()
    desk = open_desk(open_repository(root), tmp_path / "desk")
    entries = [entry for entry in list_tree(desk.git, tree) if not entry.name.startswith("tests/")]
    return companions_of(desk, tree, entries)


@pytest.mark.parametrize("text", [ASSERTS, STEERS, "import unittest\n", "from pytest import fixture\n"])
def test_what_only_tests_import_and_checks_is_of_tests(tmp_path: Path, text: str) -> None:
    """It asserts in every function, steers the runner, or uses what tests are made with."""
    assert companions(tmp_path, {"beside.py": text, **NAMED}) == {"beside.py"}


def test_a_plugin_that_only_a_manifest_names_is_of_tests(tmp_path: Path) -> None:
    """Options of the runner say which module steers it."""
    files = {"beside.py": STEERS, "pytest.ini": "[pytest]\naddopts = -p beside\n"}
    assert companions(tmp_path, files) == {"beside.py"}


@pytest.mark.parametrize("name", ["testparser.py", "check_parser.py", "parser-spec.py"])
def test_a_module_of_tests_is_known_whatever_pattern_finds_it(tmp_path: Path, name: str) -> None:
    """Runners and their settings know other names too; nobody has to import it."""
    assert companions(tmp_path, {name: TESTS}) == {name}
    (tmp_path / "plain").mkdir()
    plain = {name: f"{PROGRAM}\ndef test_two():\n    assert double(2) == 4\n"}
    assert companions(tmp_path / "plain", plain) == {name}


def test_a_package_is_known_by_its_folder(tmp_path: Path) -> None:
    """Its own file has no name to be imported by."""
    assert companions(tmp_path, {"beside/__init__.py": ASSERTS, **NAMED}) == {"beside/__init__.py"}


@pytest.mark.parametrize(
    "files",
    [
        {"beside.py": PROGRAM, **NAMED},
        {"beside.py": ASSERTS + PROGRAM, **NAMED},
        {"beside.py": ASSERTS},
        {"beside.py": ASSERTS, "app.py": "from beside import refused\n", **NAMED},
        {"beside.py": STEERS, "setup.py": "entry_points={'pytest11': ['a = beside']}\n", **NAMED},
        {"beside.py": "def (", **NAMED},
        {"testing.py": ASSERTS},
        {"app.py": f"{PROGRAM}\ndef test_two():\n    assert double(2) == 4\n"},
        {"testparser.py": TESTS, "app.py": "import testparser\n"},
        {"be-side.py": ASSERTS, "tests/test_a.py": "be-side\n"},
    ],
)
def test_what_may_be_of_the_program_is_not(tmp_path: Path, files: Mapping[str, str]) -> None:
    """A library is imported by its tests alone too, so what does more than check is no test."""
    assert companions(tmp_path, files) == frozenset()
