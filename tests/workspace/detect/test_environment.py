"""The environment.json that follows from what was found and tried."""

import subprocess
from dataclasses import replace
from pathlib import Path

from harness_executor.workspace.detect.environment import Choice, environment
from tests.workspace.detect.trees import found

FILES = {
    "requirements.txt": "flask\npymongo\n",
    "app.py": """
        import os
        from flask import Flask
        app = Flask(__name__)
        url = os.environ["MONGO_URL"]
        """,
}


def test_a_service_that_is_needed_tells_its_own_variable(tmp_path: Path) -> None:
    """Its address is filled in when it runs, so no value for tests is written."""
    seen = found(tmp_path, FILES)
    data = environment(seen, Choice(seen.candidates[0]))
    assert data["services"][0]["connection"]["url_env"] == "MONGO_URL"
    assert data["services"][0]["required"]
    assert "MONGO_URL" not in data["env_vars"]["required"]


def test_a_service_that_was_done_without_leaves_an_address_that_reads_well(tmp_path: Path) -> None:
    """The code gets an address of the right kind, where nobody answers."""
    seen = found(tmp_path, FILES)
    lost = tuple(replace(one, required=False) for one in seen.services(seen.stacks[0]))
    data = environment(seen, Choice(seen.candidates[0], services=lost))
    assert data["services"][0]["required"] is False
    assert data["env_vars"]["required"]["MONGO_URL"]["test_value"].startswith("mongodb://127.0.0.1:27017/")


def test_a_version_that_an_installation_writes_is_written(tmp_path: Path) -> None:
    """A file that git does not keep, and the package imports, is there in every fresh copy."""
    page = """
        [project]
        name = "slugs"
        dynamic = ["version"]
        [tool.hatch.build.hooks.vcs]
        version-file = "src/slugs/_version.py"
        """
    files = {"pyproject.toml": page, "src/slugs/__init__.py": "from ._version import __version__\n"}
    seen = found(tmp_path / "a", files)
    (command,) = environment(seen, Choice())["test_environment"]["setup_commands"]
    subprocess.run(("sh", "-c", command), cwd=tmp_path / "a", check=True)
    text = (tmp_path / "a/src/slugs/_version.py").read_text()
    assert text.splitlines()[0] == "__version__ = version = '0.0.0'"
    kept = found(tmp_path / "b", {**files, "src/slugs/_version.py": text})
    assert "test_environment" not in environment(kept, Choice())
