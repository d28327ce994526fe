"""Data that is there for tests alone."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness_executor.workspace.export import open_desk
from harness_executor.workspace.repository import open_repository
from harness_executor.workspace.testing.goldens import goldens_of
from harness_executor.workspace.trees import list_tree
from tests.conftest import git
from tests.workspace.testing.test_scripts import project

LOOP = {"tests/test_a.py": "for name in ROOT.glob('golden/*'): ...\n", "app.py": "def report(): ...\n"}
READS = {"tests/test_a.py": "want = open('data/want.json')\n", "app.py": "def want(): ...\n"}


def goldens(tmp_path: Path, files: Mapping[str, str]) -> frozenset[str]:
    """Those of all files of a repository."""
    root = project(tmp_path, files)
    tree = git(root, "rev-parse", "HEAD^{tree}").strip()
    desk = open_desk(open_repository(root), tmp_path / "desk")
    return goldens_of(desk, tree, list_tree(desk.git, tree))


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({**LOOP, "golden/report.txt": ""}, "golden/report.txt"),
        ({**LOOP, "web/fixtures/a.png": "", "README.md": "see `web/fixtures/a.png`\n"}, "web/fixtures/a.png"),
        ({**LOOP, "Expected/a/b": "", "Makefile": "b:\n\t./app.py > Expected/a/b\n"}, "Expected/a/b"),
        ({**READS, "data/want.json": ""}, "data/want.json"),
    ],
)
def test_data_that_only_tests_read_is_of_tests(tmp_path: Path, files: dict[str, str], name: str) -> None:
    """It lies in a folder of what tests compare with, or tests name it."""
    assert goldens(tmp_path, files) == {name}


@pytest.mark.parametrize(
    "files",
    [
        {**READS, "data/other.json": ""},
        {**READS, "data/want.json": "", "app.py": "open(FOLDER / 'want.json')\n"},
        {**READS, "data/want.json": "", "app.py": "read('want')\n"},
        {**READS, "data/want.json": "", "app.py": "open(f'data/{name}.json')\n"},
        {**READS, "data/want.json": "", "compose.yaml": "command: serve data/want.json\n"},
        {**LOOP, "fixtures/db.json": "", "package.json": '{"scripts": {"start": "serve fixtures/db.json"}}'},
        {**LOOP, "fixtures/db.json": "", "app.py": "FOLDER = ROOT / 'fixtures'\n"},
        {**LOOP, "fixtures/load.py": "", "snapshots/__init__.py": ""},
    ],
)
def test_data_that_the_program_may_read_is_not(tmp_path: Path, files: dict[str, str]) -> None:
    """It is named somewhere, as a file or by its folder."""
    assert goldens(tmp_path, files) == frozenset()
