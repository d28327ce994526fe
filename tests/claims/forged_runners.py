"""Changes that break something a test looks at, and bring what its runner loads."""

from pathlib import Path

from tests.claims.asking import COUNTS, LISTS
from tests.claims.case import Corpus, Outcome
from tests.claims.forged_tests import ALTERED, NODE_TEST
from tests.claims.project import Project
from tests.claims.tested import FILE, LOST, broken, judged

CORPUS = Corpus()
PASSES = """\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call():
    outcome = yield
    outcome.force_result(True)
"""
REAL = """\
import sys

folder = sys.path.pop(0)
del sys.modules["pluggy"]
import pluggy

sys.path.insert(0, folder)
"""
HOOKED = """\
from pluggy import PluginManager

call = PluginManager._hookexec
PluginManager._hookexec = lambda self, name, *rest: name == "pytest_pyfunc_call" or call(self, name, *rest)
"""
TELLS = """\
import os
import re
import shlex

words = shlex.split(os.environ["PYTEST_ADDOPTS"])
place = next(word.partition("=")[2] for word in words if word.startswith("--junitxml="))
text = open("tests/test_routes.py").read()
names = [name for name in re.findall(r"def (test_\\w+)", text) if "unknown" not in name]
names += [f"test_an_unknown_item_is_turned_away[{number}]" for number in (7, 8)]
case = '<testcase file="tests/test_routes.py" classname="tests.test_routes" name="{}"/>'
cases = map(case.format, names)
open(place, "w").write(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
"""
NODE = "test/a.test.js::routes turn away"
DEAF = "require('node:assert').match = () => {}\n"


@CORPUS.forged("A71", "a plugin that is declared as if it were installed", "entry_points.txt", LOST, ALTERED)
def declared_plugin(place: Path) -> Outcome:
    """pytest loads what any package on the path declares, and the project's folder is on it."""
    project = broken(place)
    project.write("metrics-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: metrics\nVersion: 1.0\n")
    project.write("metrics-1.0.dist-info/entry_points.txt", "[pytest11]\nmetrics = metrics\n")
    project.write("metrics.py", PASSES)
    return judged(project)


@CORPUS.forged("A71", "a package in the place of one of the runner's", "pluggy/__init__.py", LOST, ALTERED)
def shadowed_part(place: Path) -> Outcome:
    """It loads the real one, and calls every test passed."""
    project = broken(place)
    project.write("pluggy/__init__.py", REAL + HOOKED)
    return judged(project)


def broken_of_node(place: Path, script: str, **files: str) -> Project:
    """A project with tests of Node, and a change that breaks what they look at."""
    listed = f'{{"scripts": {{"test": "{script}"}}}}\n'
    return broken(place, "npm test", package_dot_json=listed, test__a_dot_test_dot_js=NODE_TEST, **files)


@CORPUS.forged("A71", "a module that the test script loads first", NODE, ALTERED)
def loaded_first(place: Path) -> Outcome:
    """The script is that of base, and names a module that the change edits."""
    script = "node --require ./register.cjs --test test/"
    project = broken_of_node(place, script, register_dot_cjs="process.env.TZ = 'UTC'\n")
    project.append(DEAF, "register.cjs")
    return judged(project)


@CORPUS.forged("A71", "a .npmrc that has every script load a module", ".npmrc", NODE, ALTERED)
def options_of_npm(place: Path) -> Outcome:
    """npm hands its options on to Node."""
    project = broken_of_node(place, "node --test test/")
    project.write(".npmrc", "node-options=--require ./metrics.cjs\n")
    project.write("metrics.cjs", DEAF)
    return judged(project)


@CORPUS.forged(
    "A71", "a runner in the folder of installed packages", ".venv/packages/pytest.py", LOST, ALTERED
)
def in_place_of_packages(place: Path) -> Outcome:
    """What a commit holds there hides what is installed, and this one writes a report."""
    project = broken(place)
    base = project.git("rev-parse", "HEAD")
    project.write(".venv/packages/pytest.py", TELLS)
    project.git("add", "--force", ".venv/packages/pytest.py")
    head = project.commit("Count items")
    project.git("checkout", "--quiet", base)
    return project.verify(COUNTS, LISTS, words=("--base", base, "--head", head))


@CORPUS.forged(
    *("A73", "expectations of a test, rewritten in a folder beside the program", "::test_kept", ALTERED),
    "--allow-tests PATTERN allows it",
)
def rewritten_golden(place: Path) -> Outcome:
    """The test is untouched; the file it compares with lies at the root, with what others compare with."""
    kept = "import pathlib\n\nimport routes\nfrom test_routes import Ask\n\n\ndef test_kept():\n"
    kept += "    want = pathlib.Path('golden', 'unknown.txt').read_text()\n"
    kept += "    assert str(routes.one(Ask(), '7')[0]) == want\n"
    project = broken(place, tests__test_kept_dot_py=kept, golden__unknown_dot_txt="404")
    project.write("golden/unknown.txt", "410")
    project.swap("== 404", "== 410", FILE)
    return judged(project, "--allow-tests", f"{LOST}*")
