"""Whether packages are there."""

from pathlib import Path

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
