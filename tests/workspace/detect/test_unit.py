"""The programs of a repository, and which folders are decoys."""

from pathlib import Path

import pytest

from harness_executor.workspace.detect import unit
from harness_executor.workspace.detect.reading import Files
from harness_executor.workspace.detect.unit import is_decoy, units, workspaces
from tests.workspace.detect.trees import grow


def test_a_folder_with_a_manifest_is_a_program(tmp_path: Path) -> None:
    """Files belong to the innermost program; manifests in name only make none."""
    files = {
        "package.json": '{"name": "root"}',
        "apps/api/package.json": '{"name": "api"}',
        "apps/api/index.js": "",
        "esm/package.json": '{"type": "module"}',
        "src/app/setup.py": "def setup_logging(): pass",
        "tool.js": "",
    }
    found = {unit.folder: unit.names for unit in units(Files(grow(tmp_path, files)))}
    assert set(found) == {".", "apps/api"}
    assert "apps/api/index.js" in found["apps/api"]
    assert "apps/api/index.js" not in found["."]


@pytest.mark.parametrize(
    ("path", "decoy"),
    [
        ("examples/app.py", True),
        ("src/tests/app.py", True),
        ("infra/server.js", True),
        ("src/infra/http/server.ts", False),
        ("{{cookiecutter.name}}/app.py", True),
        ("backend/app.py", False),
    ],
)
def test_decoys_are_known_by_their_folder(path: str, decoy: bool) -> None:
    """Examples and tests anywhere, infra and the like at the top only."""
    assert is_decoy(path) is decoy


def test_a_folder_that_is_asked_for_is_no_decoy() -> None:
    """Within examples/a nothing is a decoy because of examples."""
    assert not is_decoy("examples/a/app.py", "examples/a")
    assert is_decoy("examples/a/tests/app.py", "examples/a")


def test_members_of_workspaces_are_listed(tmp_path: Path) -> None:
    """Those of npm, pnpm and uv."""
    files = {
        "package.json": '{"workspaces": {"packages": ["apps/*"]}}',
        "pnpm-workspace.yaml": "packages: ['packages/*']",
        "pyproject.toml": "[tool.uv.workspace]\nmembers = ['libs/*']\n",
    }
    assert workspaces(Files(grow(tmp_path, files))) == ("apps/*", "packages/*", "libs/*")


def test_programs_that_are_not_looked_at_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as are looked at need no word; with one more there is a note."""
    monkeypatch.setattr(unit, "MOST_UNITS", 3)
    some = grow(tmp_path / "some", {f"{name}/go.mod": "" for name in "ab"})
    more = grow(tmp_path / "more", {f"{name}/go.mod": "" for name in "abc"})
    seen = [Files(some), Files(more)]
    assert [[one.folder for one in units(files)] for files in seen] == [[".", "a", "b"]] * 2
    said = "only 3 programs are looked at, the nearest to the root"
    assert [files.notes for files in seen] == [(), (said,)]
