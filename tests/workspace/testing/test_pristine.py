"""The change with the tests of base, and with the way base runs them."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness_executor.workspace.export import open_desk
from harness_executor.workspace.repository import open_repository
from harness_executor.workspace.testing.pristine import RULES, TESTS, Held, pristine_tree
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
    tmp_path: Path,
    changes: Mapping[str, str | None],
    base: Mapping[str, str] = BASE,
    held: Held = TESTS,
    command: str = "",
) -> dict[str, str]:
    """The files of the change with the tests of base; an empty mapping if that is the change itself."""
    root = tmp_path / "project"
    root.mkdir(parents=True)
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
    tree = pristine_tree(desk, old, change, command, held)
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


def test_what_comes_before_the_runner_is_away(tmp_path: Path) -> None:
    """A plugin that the change declares, and a module in the place of the runner's."""
    changes = {
        "x-1.0.dist-info/entry_points.txt": "[pytest11]\nx = x\n",
        "pluggy/__init__.py": "trick\n",
        "app.py": "new\n",
    }
    assert mixed(tmp_path, changes) == {**BASE, "app.py": "new\n"}


@pytest.mark.parametrize("held", [TESTS, RULES])
@pytest.mark.parametrize("name", [".venv/bin/python", "web/node_modules/.bin/jest", "venv"])
def test_what_takes_the_place_of_packages_is_away(tmp_path: Path, name: str, held: Held) -> None:
    """What is installed there is shown instead."""
    assert mixed(tmp_path, {name: "trick\n", "app.py": "new\n"}, held=held) == {**BASE, "app.py": "new\n"}


def test_packages_that_base_tracks_are_those_of_the_change(tmp_path: Path) -> None:
    """Nothing else is installed there."""
    base = {**BASE, "node_modules/a/index.js": "old\n"}
    assert mixed(tmp_path, {"node_modules/a/index.js": "new\n"}, base) == {}


@pytest.mark.parametrize("folder", ["program", "new"])
def test_a_module_of_a_package_may_be_called_as_a_runner_is(tmp_path: Path, folder: str) -> None:
    """Nobody looks there for a runner."""
    base = {**BASE, "program/__init__.py": ""}
    changes = {f"{folder}/unittest.py": "new\n"}
    assert mixed(tmp_path, changes, base) == {}


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


def test_options_of_pytest_in_a_manifest_are_base(tmp_path: Path) -> None:
    """A table that steers tests is taken from base, and the rest is the change's."""
    narrowed = BASE["pyproject.toml"].replace("-q", "-k nothing").replace('"x"', '"y"')
    found = mixed(tmp_path, {"pyproject.toml": narrowed})
    assert found["pyproject.toml"] == BASE["pyproject.toml"].replace('"x"', '"y"')


@pytest.mark.parametrize("name", ["pyproject.toml", "package.json"])
@pytest.mark.parametrize("text", ["[]", "{", "\n\n=\n"])
def test_a_manifest_that_is_none_is_base(tmp_path: Path, name: str, text: str) -> None:
    """What cannot be read is taken from base as a whole."""
    assert mixed(tmp_path, {name: text})[name] == BASE[name]


def test_a_folder_of_tests_that_became_a_file_is_a_folder_again(tmp_path: Path) -> None:
    """What stands in the way of base's tests makes room for them."""
    found = mixed(tmp_path, {"tests/test_a.py": None, "tests/data.json": None, "app.py": "new\n"})
    assert found == {**BASE, "app.py": "new\n"}


RULED = {
    "app.py": "old\n",
    ".eslintrc.json": "{}\n",
    "tsconfig.json": '{"compilerOptions": {"strict": true, "target": "es5"}, "include": ["src"]} // strict\n',
    "pyproject.toml": '[project]\nname = "x"\n\n[tool.ruff]\nselect = [\n  "ALL"\n]\n\n[tool.other]\na = 1\n',
    "package.json": '{"scripts": {"lint": "eslint .", "build": "tsc"}}\n',
    "Makefile": "lint:\n\truff check .\n",
}


def ruled(tmp_path: Path, changes: Mapping[str, str | None], command: str = "") -> dict[str, str]:
    """The files of the change with the rules of base."""
    return mixed(tmp_path, changes, RULED, RULES, command)


def test_rules_for_code_are_base(tmp_path: Path) -> None:
    """Edited, removed and new rules are as they were; the program is as it was changed."""
    changes = {
        ".eslintrc.json": None,
        "eslint.config.js": "export default []\n",
        "ruff.toml": "select = []\n",
        "pyproject.toml": RULED["pyproject.toml"].replace('"ALL"', "").replace("a = 1", "a = 2"),
        "package.json": '{"scripts": {"lint": "true", "build": "gen && tsc"}, "dependencies": {"a": "1"}}\n',
        "app.py": "new\n",
    }
    found = ruled(tmp_path, changes)
    scripts = {"lint": "eslint .", "build": "gen && tsc"}
    assert json.loads(found.pop("package.json")) == {"scripts": scripts, "dependencies": {"a": "1"}}
    manifest = tomllib.loads(found.pop("pyproject.toml"))
    assert manifest["tool"] == {"ruff": {"select": ["ALL"]}, "other": {"a": 2}}
    assert found == {name: {**RULED, "app.py": "new\n"}[name] for name in found}
    assert {".eslintrc.json", "tsconfig.json", "Makefile"} <= found.keys()


def test_a_compiler_is_as_strict_as_on_base(tmp_path: Path) -> None:
    """What code is made for is the change's, and so are folders that came."""
    loose = '{"target": "es2022", "jsx": "react", "skipLibCheck": true}'
    more = '"extends": "./x.json", "include": ["web"], "exclude": ["src/a"]'
    found = ruled(tmp_path, {"tsconfig.json": f'{{"compilerOptions": {loose}, {more}}}'})
    options = {"target": "es2022", "jsx": "react", "strict": True}
    assert json.loads(found["tsconfig.json"]) == {"compilerOptions": options, "include": ["src", "web"]}


def test_a_makefile_is_base_where_a_check_is_made_by_it(tmp_path: Path) -> None:
    """Otherwise it is what builds the program."""
    changes = {"Makefile": "lint:\n\ttrue\n"}
    assert ruled(tmp_path, changes, "make lint") == RULED
    assert ruled(tmp_path / "other", changes, "ruff check .") == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"app.py": "new\n"},
        {"web/.eslintrc.json": "{}\n", "web/app.js": "1\n"},
        {"tsconfig.json": RULED["tsconfig.json"].replace("es5", "es2022")},
        {"pyproject.toml": RULED["pyproject.toml"].replace('"x"', '"y"')},
        {"package.json": '{"scripts": {"lint": "eslint .", "build": "gen && tsc", "prebuild": "gen"}}\n'},
    ],
)
def test_a_change_that_leaves_rules_alone_is_judged_by_its_own(
    changes: dict[str, str], tmp_path: Path
) -> None:
    """A new package has rules of its own, a build may do more, and a compiler may make something else."""
    assert ruled(tmp_path, changes) == {}


@pytest.mark.parametrize("build", ["true", "tsc || true", "exit && tsc", "tsc; true", "tsc | cat"])
def test_a_build_that_does_less_is_base(build: str, tmp_path: Path) -> None:
    """What ends well in any case is no more than base did."""
    text = json.dumps({"scripts": {"lint": "eslint .", "build": build}})
    assert json.loads(ruled(tmp_path, {"package.json": text})["package.json"])["scripts"]["build"] == "tsc"
