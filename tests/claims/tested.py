"""The project of the claims with tests of its own, for changes that do something to tests."""

from pathlib import Path

from tests.claims.app import COUNT, environment
from tests.claims.asking import COUNTS, LISTS
from tests.claims.case import Outcome
from tests.claims.project import Project, make_project
from tests.runners import PYTEST, give_pytest, make_environment

TESTS = """\
import pytest

import routes


class Ask:
    def __init__(self, **data):
        self.sent = data

    def data(self):
        return self.sent


def test_a_name_is_required():
    assert routes.add(Ask())[0] == 400


def test_an_item_is_kept():
    routes.ITEMS.clear()
    assert routes.add(Ask(name="pen")) == (201, {"id": 1, "name": "pen"})


@pytest.mark.parametrize("number", ["7", "8"])
def test_an_unknown_item_is_turned_away(number):
    assert routes.one(Ask(), number)[0] == 404
"""
LOST = "tests/test_routes.py::test_an_unknown_item_is_turned_away"
FILE = "tests/test_routes.py"
BASE = ("--base", "HEAD")


def project_with_tests(place: Path, command: str = f"{PYTEST} -q", **files: str) -> Project:
    """A project whose tests pass; its change serves the number of items."""
    listed = {FILE: TESTS, ".gitignore": ".venv\nnode_modules\n__pycache__\n"}
    named = {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}
    runs = environment(test_command=command)
    project = make_project(place, {**listed, "harness/environment.json": runs, **named})
    give_pytest(project.root)
    project.append(COUNT)
    return project


def broken(place: Path, command: str = f"{PYTEST} -q", **files: str) -> Project:
    """The same, and the change breaks what only a test looks at."""
    project = project_with_tests(place, command, **files)
    project.swap("(404, ", "(410, ")
    return project


def installed(place: Path) -> Project:
    """A project whose tests import the copy of it that is installed beside pytest."""
    project = project_with_tests(place, ".venv/bin/python -P -m pytest -q")
    copy = make_environment(project.root) / "routes.py"
    copy.write_text(project.git("show", "HEAD:routes.py"), encoding="utf-8")
    return project


def judged(project: Project, *words: str) -> Outcome:
    """`harness verify` of the working tree."""
    return project.verify(COUNTS, LISTS, words=(*BASE, *words))
