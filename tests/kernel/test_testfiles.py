"""Which files are tests, and which say how they are run."""

import pytest

from harness_executor.kernel.testfiles import is_sectioned, is_test, shadows_runner, steers_tests


@pytest.mark.parametrize(
    "path",
    [
        *("tests/data/x.json", "test_app.py", "pkg/app_test.go", "src/a.test.ts", "src/A.spec.jsx"),
        *(
            "app/__tests__/x.js",
            "app/tests.py",
            "src/__snapshots__/a.snap",
            "src/test/java/ATest.java",
            "tests",
            "internal/testutil/server.go",
        ),
        *(
            "src/app-test.js",
            "lib/app_test.ts",
            "app_spec.mjs",
            "app-spec.tsx",
            "app.tests.js",
            "app.specs.cts",
        ),
        *("test.js", "src/test.mjs", "spec.ts", "lib/test-app.cjs"),
        *("features/login.feature", "features/steps/login.py", "web/features/environment.py"),
        "features/step_definitions/login.js",
    ],
)
def test_tests_are_known_by_their_names(path: str) -> None:
    """A test, or what only tests use."""
    assert is_test(path)


@pytest.mark.parametrize(
    "path",
    [
        *("app.py", "contest.py", "latest/app.py", "src/testing_ground.js", "spec.md", "testing.py"),
        *(
            "api-spec.json",
            "src/latest.js",
            "src/features/steps/list.tsx",
            "features/users.py",
            "vite.ts",
        ),
    ],
)
def test_other_files_are_no_tests(path: str) -> None:
    """A name that only sounds like one is left alone."""
    assert not is_test(path)
    assert not steers_tests(path)


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "a/conftest.py",
        "pytest.ini",
        "jest.config.cjs",
        "Makefile",
        "x-1.0.dist-info/entry_points.txt",
        ".npmrc",
        "src/x.egg-info/PKG-INFO",
        ".mocharc.yml",
        "src/setupTests.ts",
        *(
            "bunfig.toml",
            ".taprc",
            ".mocharc.json",
            "ava.config.mjs",
            "playwright.config.ts",
            "karma.conf.js",
        ),
        *(
            "cypress.config.js",
            ".nycrc.json",
            "nyc.config.js",
            "jest.preset.js",
            "vitest.setup.ts",
            "behave.ini",
        ),
    ],
)
def test_what_steers_tests_is_known(path: str) -> None:
    """Files that say how tests are run."""
    assert steers_tests(path)


def test_some_files_steer_tests_with_a_part_of_theirs() -> None:
    """Manifests are ordinary work but for some of their tables."""
    assert is_sectioned("web/package.json")
    assert is_sectioned("pyproject.toml")
    assert not is_sectioned("package-lock.json")


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        *(
            ("pytest.py", ""),
            ("pluggy", ""),
            ("pytest_cov/__init__.py", ""),
            ("sitecustomize/__init__.py", ""),
        ),
        *(("src/_pytest/__init__.py", "src"), ("a/b/pluggy.cpython-311-x86_64-linux-gnu.so", "a/b")),
    ],
)
def test_a_module_may_come_before_a_part_of_a_runner(path: str, folder: str) -> None:
    """It has its name, as a file, a package, a link to one or a library."""
    assert shadows_runner(path) == folder


@pytest.mark.parametrize("path", ["pluggy/_callers.py", "pytest.md", "src/__init__.py", "pluggy.d/x.py"])
def test_other_modules_come_before_nothing(path: str) -> None:
    """What lies within such a package is no module of its own, and a text is none at all."""
    assert shadows_runner(path) is None
