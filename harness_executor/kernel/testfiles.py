"""Which files are tests, and which say how tests are run?"""

from fnmatch import fnmatchcase

_FOLDERS = frozenset(
    (
        *("test", "tests", "spec", "specs", "e2e", "testdata"),
        *("__tests__", "__mocks__", "__snapshots__", "__fixtures__"),
        *("testutil", "testutils", "test-utils", "test_utils", "testhelpers", "test-helpers", "test_helpers"),
    )
)
_TESTS = (
    *("test_*.py", "*_test.py", "tests.py", "*_test.go", "*_spec.rb", "*_test.rb"),
    *("*.test.*", "*.spec.*", "*.cy.*", "*.snap", "*test.java", "*tests.java", "*test.kt", "*test.php"),
)
_STEERING = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg"),
    *("noxfile.py", "makefile", "gnumakefile", "justfile", "taskfile.y*ml", "rakefile"),
    *("jest.config.*", "jest.setup.*", "jest-*.config.*", "vitest.config.*", "vitest.workspace.*"),
    *("setuptests.*", "test-setup.*", "test-utils.*", "testutils.*", "test-helpers.*", "testhelpers.*"),
    *("vitest.setup.*", "vite.config.*", ".mocharc*", "ava.config.*", "karma.conf.*", "cypress.config.*"),
    *("playwright.config.*", "phpunit.xml*", "sitecustomize.py", "usercustomize.py", "pytest.py"),
)
SECTIONED = ("pyproject.toml", "package.json")
"""Files of which only some part says how tests are run."""


def is_test(path: str) -> bool:
    """Is this a test, or something that only tests use?"""
    *folders, name = path.lower().split("/")
    return bool(_FOLDERS.intersection(folders)) or name in _FOLDERS or _fits(name, _TESTS)


def steers_tests(path: str) -> bool:
    """Does this file say how tests are run?"""
    return _fits(path.lower().rsplit("/", 1)[-1], _STEERING)


def is_sectioned(path: str) -> bool:
    """Does a part of this file say how tests are run?"""
    return path.rsplit("/", 1)[-1] in SECTIONED


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
