"""Changes that break something a test looks at, and bring what its runner loads."""

from pathlib import Path

from tests.claims.case import Corpus, Outcome
from tests.claims.forged_tests import ALTERED
from tests.claims.tested import LOST, broken, judged

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
