"""Whether packages are there."""

from pathlib import Path

import pytest

from harness_executor.workspace.detect.installed import has_environment, lacking
from tests.workspace.detect.trees import found, grow

FLASK = "from flask import Flask\napp = Flask(__name__)\n"


def test_node_packages_are_looked_for(tmp_path: Path) -> None:
    """Without node_modules everything is missing, and the command is that of the lock file."""
    files = {"package.json": '{"name": "x", "dependencies": {"express": "5"}}', "package-lock.json": "{}"}
    main = found(tmp_path, files).main
    assert main is not None
    lost = lacking(tmp_path, main)
    assert lost is not None
    assert (lost.packages, lost.command) == (("express",), "npm ci")
    grow(tmp_path, {"node_modules/express/index.js": ""})
    assert lacking(tmp_path, main) is None
    assert has_environment(tmp_path, main)


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": "[project.optional-dependencies]\nweb = ['flask']\n"},
        {"pyproject.toml": "[dependency-groups]\nweb = ['flask']\n"},
        {"pyproject.toml": "[tool.poetry.dependencies]\nflask = {version = '3', optional = true}\n"},
        {"requirements.txt": "flask ; python_version < '3'\n", "constraints.txt": "django==5\n"},
        {"Pipfile": "[packages]\nflask = {version = '*', markers = \"python_version < '3'\"}\n"},
        {"setup.py": "import setuptools as s\ns.setup(install_requires=['flask; os_name == \"nt\"'])\n"},
    ],
)
def test_what_not_everybody_has_is_not_missing(tmp_path: Path, files: dict[str, str]) -> None:
    """Extras, groups, bounds and what stands under a condition may be absent."""
    main = found(tmp_path, {**files, "app.py": FLASK}).main
    assert main is not None
    grow(tmp_path, {".venv/bin/python": "", ".venv/lib/python3.11/site-packages/six-1.dist-info/x": ""})
    assert lacking(tmp_path, main) is None
    grow(tmp_path, {"requirements-web.txt": "flask\n"})
    main = found(tmp_path, {"app.py": FLASK, "requirements-web.txt": "flask\n"}).main
    assert main is not None
    assert lacking(tmp_path, main) is not None


def test_python_packages_are_looked_for_in_the_environment(tmp_path: Path) -> None:
    """What is listed and not in site-packages is missing; without an environment only running can tell."""
    main = found(tmp_path, {"requirements.txt": "flask", "app.py": FLASK}).main
    assert main is not None
    assert lacking(tmp_path, main) is None
    grow(tmp_path, {".venv/bin/python": "", ".venv/lib/python3.11/site-packages/click-8.1.dist-info/x": ""})
    lost = lacking(tmp_path, main)
    assert lost is not None
    assert lost.packages == ("flask",)
    grow(tmp_path, {".venv/lib/python3.11/site-packages/flask-3.1.2.dist-info/METADATA": ""})
    assert lacking(tmp_path, main) is None
