"""What is in the way of a start, and what mends it."""

from pathlib import Path

import pytest

from harness_executor.workspace.detect.remedies import PRISMA, remedies
from harness_executor.workspace.detect.values import Stack
from tests.workspace.detect.trees import found, grow

APP = "from flask import Flask\napp = Flask(__name__)\n"
LISTED = "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"
HAS = {
    ".venv/pyvenv.cfg": "home = /usr\nversion = 3.11.7\n",
    ".venv/bin/python": "",
    ".venv/lib/python3.11/site-packages/flask-3.1.2.dist-info/METADATA": "",
    ".venv/lib/python3.11/site-packages/pluck/__init__.py": "",
}


def stack(root: Path, files: dict[str, str]) -> Stack:
    """The program of a tree of these files, with an environment that has flask and pluck."""
    main = found(root, {"requirements.txt": "flask\npyjwt\npluck\n", "app.py": APP, **files}).main
    grow(root, HAS)
    assert main is not None
    return main


def test_a_module_is_installed_from_where_it_is_listed(tmp_path: Path) -> None:
    """Under the name of its package; one that is on no list is installed by its name."""
    main = stack(tmp_path, {})
    assert remedies(tmp_path, main, "jwt") == (f"jwt is not installed: `{LISTED}`",)
    said = "pydantic_settings is not installed, and no list of packages names it"
    assert remedies(tmp_path, main, "pydantic_settings") == (
        f"{said}: `.venv/bin/pip install pydantic-settings`",
    )


def test_what_newer_versions_of_setuptools_lack_is_had_from_an_older_one(tmp_path: Path) -> None:
    """No package is called pkg_resources."""
    said = "pkg_resources is not installed, and no list of packages names it"
    assert remedies(tmp_path, stack(tmp_path, {}), "pkg_resources") == (
        f"{said}: `.venv/bin/pip install 'setuptools<81'`",
    )


def test_a_package_of_another_version_is_not_called_missing(tmp_path: Path) -> None:
    """It is there, and has no such part."""
    main = stack(tmp_path, {})
    assert remedies(tmp_path, main, "pluck.feathers") == (
        f"pluck is installed in another version, without pluck.feathers: `{LISTED}`",
    )


def test_a_part_of_the_project_is_not_to_be_installed(tmp_path: Path) -> None:
    """It is looked for from the wrong place, which no package mends."""
    main = stack(tmp_path, {"shop/__init__.py": ""})
    assert remedies(tmp_path, main, "shop.models") == ()
    assert remedies(tmp_path, main) == ()


def test_a_python_that_is_too_old_is_named_first(tmp_path: Path) -> None:
    """The manifest asks for more than the environment has."""
    asks = '[project]\nname = "x"\nrequires-python = ">=3.14"\n'
    said = remedies(tmp_path, stack(tmp_path, {"pyproject.toml": asks}), "jwt")
    assert said[0] == "it asks for Python >=3.14, and .venv has 3.11: make it with a Python that fits"
    fits = '[project]\nname = "x"\nrequires-python = ">=3.9"\n'
    assert remedies(tmp_path / "b", stack(tmp_path / "b", {"pyproject.toml": fits})) == ()


def test_a_client_that_is_not_generated_is_generated(tmp_path: Path) -> None:
    """It is no package: installing again brings nothing."""
    package = '{"dependencies": {"@prisma/client": "6", "express": "5"}}'
    files = {"shop/package.json": package, "shop/s.js": "require('express')().listen(process.env.PORT)"}
    installed = {f"shop/node_modules/{name}/package.json": "{}" for name in ("@prisma/client", "express")}
    seen = found(tmp_path, {**files, **installed})
    said = "the Prisma client or its engine is not there: `cd shop && npx prisma generate`"
    assert remedies(tmp_path, seen.stack_of(seen.candidates[0]), PRISMA) == (said,)


@pytest.mark.parametrize(
    ("program", "command"), [("go", "apt-get install golang"), ("bun", "npm install --global bun")]
)
def test_a_program_does_not_install_itself(tmp_path: Path, program: str, command: str) -> None:
    """What installs packages is had otherwise."""
    main = found(tmp_path, {"go.mod": "module x", "main.go": "package main\nfunc main() {}\n"}).main
    assert main is not None
    assert remedies(tmp_path, main, program) == (f"{program} is not installed: `{command}`",)
