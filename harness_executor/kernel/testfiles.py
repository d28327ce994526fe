"""Which files are tests, and which say how tests are run?"""

import re
from fnmatch import fnmatchcase

_FOLDERS = frozenset(
    (
        *("test", "tests", "spec", "specs", "e2e", "testdata"),
        *("__tests__", "__mocks__", "__snapshots__", "__fixtures__", "step_definitions"),
        *("testutil", "testutils", "test-utils", "test_utils", "testhelpers", "test-helpers", "test_helpers"),
    )
)
_STEMS = ("test", "spec", "test-*", "*[-_]test", "*[-_]spec", "*.tests", "*.specs")
_TESTS = (
    *("test_*.py", "*_test.py", "tests.py", "*_test.go", "*_spec.rb", "*_test.rb", "*.feature"),
    *("*.test.*", "*.spec.*", "*.cy.*", "*.snap", "*test.java", "*tests.java", "*test.kt", "*test.php"),
    *(f"{stem}.{suffix}" for stem in _STEMS for suffix in ("[jt]s", "[jt]sx", "[cm][jt]s")),
)
_OF_BEHAVE = re.compile(r"(?:^|/)features/(?:steps/.*|environment)\.py$")
_STEERING = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg"),
    *("noxfile.py", "makefile", "gnumakefile", "justfile", "taskfile.y*ml", "rakefile", ".rspec"),
    *(".npmrc", "tox.toml", "unittest.cfg", "behave.ini", ".behaverc", ".coveragerc"),
    *("jest.*", "jest-*.config.*", "vitest.*", "vitest-*.config.*", "vite.config.*", "bunfig.toml"),
    *("setuptests.*", "test-setup.*", "test-utils.*", "testutils.*", "test-helpers.*", "testhelpers.*"),
    *(".mocharc*", ".taprc*", ".nycrc*", "nyc.config.*", ".c8rc*", "ava.config.*", "*.ava.config.*"),
    *("karma.conf.*", "karma-*.conf.*", "jasmine.*json", ".jasmine*", "cucumber.*", "wdio.*conf.*"),
    *("cypress.config.*", "cypress.json", "playwright.config.*", "playwright-*.config.*"),
    *("phpunit*.xml*", "sitecustomize.py", "usercustomize.py"),
)
RUNNERS = (
    *(
        "pytest",
        "_pytest",
        "pluggy",
        "iniconfig",
        "packaging",
        "pygments",
        "exceptiongroup",
        "xdist",
        "execnet",
    ),
    *("unittest", "doctest", "hypothesis", "nose", "nose2", "behave", "sitecustomize", "usercustomize"),
    *("argparse", "ast", "bdb", "contextlib", "dataclasses", "difflib", "fnmatch", "importlib", "inspect"),
    *("pathlib", "pdb", "pprint", "shlex", "textwrap", "tokenize", "traceback", "typing", "warnings"),
)
"""Modules that runners of Python are made of: one of the same name in a project comes before them."""
_MODULE = re.compile(
    r"(?P<folder>.*?)/?(?P<name>[^/.]+)(?:/__init__)?(?:\.pyc?|(?:\.[\w-]+)*\.(?:so|pyd))?", re.DOTALL
)
_DISTRIBUTION = re.compile(r"\.(?:dist|egg)-info(?:/|$)")
"""Where packages say what they add to others, such as plugins of pytest."""
SECTIONED = ("pyproject.toml", "package.json")
"""Files of which only some part says how tests are run."""


def is_test(path: str) -> bool:
    """Is this a test, or something that only tests use?"""
    *folders, name = path.lower().split("/")
    is_apart = bool(_FOLDERS.intersection((*folders, name))) or _OF_BEHAVE.search(path.lower()) is not None
    return is_apart or _fits(name, _TESTS)


def steers_tests(path: str) -> bool:
    """Does this file say how tests are run?"""
    low = path.lower()
    return _fits(low.rsplit("/", 1)[-1], _STEERING) or _DISTRIBUTION.search(low) is not None


def shadows_runner(path: str) -> str | None:
    """The folder in which Python would have to look to take this file for a part of a runner, if it can."""
    found = _MODULE.fullmatch(path)
    is_one = found and (found["name"] in RUNNERS or found["name"].startswith("pytest_"))
    return found["folder"] if found and is_one else None


def is_sectioned(path: str) -> bool:
    """Does a part of this file say how tests are run?"""
    return path.rsplit("/", 1)[-1] in SECTIONED


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
