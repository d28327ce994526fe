"""Real runners, each in a box and without one: what ran is known by name."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from harness_executor.kernel.checked import CheckResult
from harness_executor.sandbox.base import Room, Sandbox
from harness_executor.workspace.checks import Checking, MakeRoom, Sides, compare_checks
from tests.rooms import BOX, NO_BOX, PYTHON, sandbox_named
from tests.runners import PYTEST, give_pytest, node_runners

Files = Mapping[str, str]

PY_TESTS = """
import unittest
from app import double

class DoubleTest(unittest.TestCase):
    def test_two(self):
        self.assertEqual(double(2), 4)

    def test_three(self):
        self.assertEqual(double(3), 6)

    @unittest.skip("later")
    def test_later(self):
        self.fail()
"""
PY_APP = "def double(number):\n    return number * 2\n"
PY_BROKEN = "def double(number):\n    return 4\n"
JS_APP = "exports.double = (number) => number * 2\n"
JS_BROKEN = "exports.double = (number) => 4\n"


def js_tests(head: str, check: str, skip: str) -> str:
    """The same tests for each runner of Node."""
    return dedent(f"""
        {head}
        describe('double', () => {{
          {skip.split(".", maxsplit=1)[0]}('two', () => {{ {check % ("double(2)", 4)} }})
          {skip.split(".", maxsplit=1)[0]}('three', () => {{ {check % ("double(3)", 6)} }})
          {skip}('later', () => {{ {check % ("1", 2)} }})
        }})
    """)


REACT_BIN = """
const script = require.resolve('../scripts/test')
const done = require('node:child_process').spawnSync(process.execPath, [script, ...process.argv.slice(3)])
process.stdout.write(Buffer.concat([done.stdout, done.stderr]))
process.exit(done.status)
"""
REACT_TEST = """
const words = process.argv.slice(2)
if (process.env.CI || words.includes('--watchAll=false')) require('jest').run(['src', ...words])
else setInterval(() => {}, 1000)
"""
ASSERT = "const assert = require('node:assert'); const {double} = require('../app.js')"
RUNNERS: dict[str, tuple[str, str, str, Files]] = {
    "pytest": (f"{PYTEST} -q", "test_app.py::DoubleTest::test_three", "py", {"test_app.py": PY_TESTS}),
    "unittest": (
        f"{PYTHON} -S -m unittest",
        "test_app.py::DoubleTest::test_three",
        "py",
        {"test_app.py": PY_TESTS},
    ),
    "unittest in a folder that is no package": (
        f"{PYTHON} -S -m unittest discover -s tests",
        "tests/test_app.py::DoubleTest::test_three",
        "py",
        {"tests/test_app.py": PY_TESTS},
    ),
    "verbose unittest behind make": (
        "make test",
        "test_app.DoubleTest.test_three",
        "py",
        {"test_app.py": PY_TESTS, "Makefile": f"test:\n\t@{PYTHON} -S -m unittest -v\n"},
    ),
    "jest": (
        "npm test",
        "test/a.test.js::double::three",
        "js",
        {
            "package.json": '{"scripts": {"test": "jest"}}',
            "test/a.test.js": js_tests(
                "const {double} = require('../app.js')", "expect(%s).toBe(%s)", "test.skip"
            ),
        },
    ),
    "react-scripts": (
        "npm test",
        "src/a.test.js::double::three",
        "js",
        {
            "package.json": '{"scripts": {"test": "node react-scripts/bin/react-scripts.js test"}}',
            "react-scripts/bin/react-scripts.js": REACT_BIN,
            "react-scripts/scripts/test.js": REACT_TEST,
            "src/a.test.js": js_tests(
                "const {double} = require('../app.js')", "expect(%s).toBe(%s)", "test.skip"
            ),
        },
    ),
    "vitest": (
        "npm test",
        "test/a.test.mjs::double::three",
        "js",
        {
            "package.json": '{"scripts": {"test": "vitest run"}}',
            "test/a.test.mjs": js_tests(
                "import {describe, test, expect} from 'vitest'; import {double} from '../app.js'",
                "expect(%s).toBe(%s)",
                "test.skip",
            ),
        },
    ),
    "mocha": (
        "npm test",
        "test/a.js::double three",
        "js",
        {
            "package.json": '{"scripts": {"test": "mocha"}}',
            "test/a.js": js_tests(ASSERT, "assert.equal(%s, %s)", "it.skip"),
        },
    ),
    "node --test": (
        "npm test",
        "test/a.test.js::double::three",
        "js",
        {
            "package.json": '{"scripts": {"test": "node --test test/"}}',
            "test/a.test.js": js_tests(
                f"const {{describe, it}} = require('node:test'); {ASSERT}", "assert.equal(%s, %s)", "it.skip"
            ),
        },
    ),
}


@pytest.fixture(params=[NO_BOX, BOX])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """What holds of a runner holds without a box and in one."""
    return sandbox_named(request.param)


def put(tree: Path, files: Files) -> Path:
    """A folder with these files."""
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tree


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """What projects have installed, beside their trees."""
    folder = tmp_path_factory.mktemp("packages")
    give_pytest(folder)
    return {".venv": folder / ".venv", "node_modules": node_runners()}


def compared(
    command: str, trees: tuple[Path, ...], sandbox: Sandbox, beside: Mapping[str, Path], report: str = ""
) -> CheckResult:
    """The test command on copies of trees."""

    def copies(tree: Path) -> MakeRoom:
        def make(name: str) -> Room:
            copy = shutil.copytree(tree, tree.parent / "copies" / name, symlinks=True)
            return Room(copy, copy, beside)

        return make

    checking = Checking({"test": command}, sandbox, test_report=report)
    (result,) = compare_checks(checking, Sides(*map(copies, trees)))
    return result


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_broken_test_is_known_by_its_name(
    runner: str, tmp_path: Path, sandbox: Sandbox, packages: Mapping[str, Path]
) -> None:
    """The test that fails on the change is named, and the one that still passes is not."""
    command, broken, language, files = RUNNERS[runner]
    name, good, bad = ("app.py", PY_APP, PY_BROKEN) if language == "py" else ("app.js", JS_APP, JS_BROKEN)
    base = put(tmp_path / "base", {**files, name: good})
    change = put(tmp_path / "change", {**files, name: bad})
    result = compared(command, (base, change), sandbox, packages)
    found = [(one.kind.value, one.subject) for one in result.findings]
    assert found == [("broken", broken)], result.output
    assert (result.base_tests, result.change_tests, result.runs) == (3, 3, 4)


ONE, OTHER = "unit/test_unit.py", "api/test_api.py"
TWO_CALLS = {ONE: PY_TESTS, OTHER: PY_TESTS, "conftest.py": ""}


@pytest.mark.parametrize(
    ("command", "settings"),
    [
        (f"{PYTEST} -q unit && {PYTEST} -q api", ""),
        (f"{PYTEST} -q unit --junitxml=out/unit.xml && {PYTEST} -q api && test -s out/unit.xml", ""),
        (f"{PYTEST} -q unit --junit-xml a.xml; {PYTEST} -q api --junit-xml b.xml", ""),
        (f"{PYTEST} -q && test -s out/all.xml", "[pytest]\naddopts = --junitxml=out/all.xml\n"),
        (
            f"{PYTEST} -q -o junit_family=xunit1 && test ! -e /tmp/all.xml",
            "[pytest]\naddopts = --junitxml=/tmp/all.xml\n",
        ),
    ],
)
def test_several_calls_and_reports_of_their_own_are_all_known(
    command: str, settings: str, tmp_path: Path, sandbox: Sandbox, packages: Mapping[str, Path]
) -> None:
    """No call of pytest hides what another one ran, wherever its report goes."""
    files = {**TWO_CALLS, "app.py": PY_APP, "pytest.ini": settings}
    base, change = put(tmp_path / "base", files), put(tmp_path / "change", files)
    (change / OTHER).write_text(PY_TESTS.replace("test_two", "test_deux"))
    result = compared(command, (base, change), sandbox, packages)
    assert (result.base_passed, result.change_passed) == (True, True), result.output
    assert (result.base_tests, result.change_tests) == (6, 6), result.output


def test_a_report_that_was_committed_is_none(
    tmp_path: Path, sandbox: Sandbox, packages: Mapping[str, Path]
) -> None:
    """Only what a run wrote says which tests ran in it."""
    old = '<testsuite><testcase classname="A" name="x"/></testsuite>'
    trees = [put(tmp_path / name, {"old.xml": old}) for name in ("base", "change")]
    result = compared("true", (trees[0], trees[1]), sandbox, packages)
    assert (result.base_tests, [one.kind.value for one in result.findings]) == (0, ["unknown"])
