"""Commands that a project makes of itself."""

from pathlib import Path

import pytest

from harness_executor.evidence.entries import binaries, scripts, words_of
from harness_executor.kernel.acts import Program
from harness_executor.sandbox.base import Sandbox
from harness_executor.workspace.importing import import_folders
from tests.evidence.yards import ended, yard_of

PYPROJECT = '[project]\nname = "tool"\n[project.scripts]\ntool = "tool.cli:app.main"\n'


def test_declarations_of_every_form_are_read(tmp_path: Path) -> None:
    """pyproject.toml, Poetry's part of it, setup.cfg, setup.py and package.json."""
    text = '[project.scripts]\na = "m:f"\n[tool.poetry.scripts]\nb = "m.n:g"\nbad = "m"\n'
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "setup.cfg").write_text("[options.entry_points]\nconsole_scripts =\n    c = m:h\n")
    (tmp_path / "setup.py").write_text(
        "setup(entry_points={'console_scripts': ['e = m.o:i'], 'x': ['y=z:w']})"
    )
    (tmp_path / "package.json").write_text('{"name": "@x/d", "bin": "cli.js"}')
    assert scripts(tmp_path) == {"a": "m:f", "b": "m.n:g", "c": "m:h", "e": "m.o:i"}
    assert binaries(tmp_path) == {"d": "cli.js"}


@pytest.mark.parametrize("text", ["{", "[1]", '{"bin": {"x": 1, "y": "../y.js", "z": "/z.js"}}'])
def test_declarations_that_mean_nothing_are_passed_over(tmp_path: Path, text: str) -> None:
    """A damaged manifest, or one that leads out of the project, declares nothing."""
    (tmp_path / "package.json").write_text(text)
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "setup.cfg").write_text(text)
    (tmp_path / "setup.py").write_text(text)
    assert (scripts(tmp_path), binaries(tmp_path)) == ({}, {})


def test_a_console_script_runs_the_code_of_the_tree(tmp_path: Path, sandbox: Sandbox) -> None:
    """It needs no installation, and an installed copy of the same name is not what runs."""
    call = "    @staticmethod\n    def main():\n        print(sys.argv)\n        return 3\n"
    main = f"import sys\nclass app:\n{call}"
    files = {"pyproject.toml": PYPROJECT, "src/tool/__init__.py": "", "src/tool/cli.py": main}
    old = {".venv/bin/tool": "#!/bin/sh\necho the installed copy\n"}
    with yard_of(tmp_path, sandbox, {**files, **old}) as yard:
        (yard.room.tree / ".venv/bin/tool").chmod(0o700)
        (yard.room.tree / ".venv/bin/python").symlink_to("/usr/bin/python3")
        done = ended(yard.run(Program(("tool", "x", "--y"))))
    assert (done.status, done.body) == (3, "['tool', 'x', '--y']\n")


def test_a_script_of_a_package_that_is_elsewhere_is_refused(tmp_path: Path) -> None:
    """Old and new code would be the same installed copy."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    with pytest.raises(LookupError, match="would both be an installed copy"):
        words_of(tmp_path, ".", ("tool", "x"))


def test_a_command_of_a_node_project_runs_its_file(tmp_path: Path) -> None:
    """From the folder of the project or from one below it; a name that nobody declares stays."""
    (tmp_path / "package.json").write_text('{"name": "t", "bin": {"todo": "bin/todo.js"}}')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/todo.js").touch()
    assert words_of(tmp_path, ".", ("todo", "x")) == ("node", "bin/todo.js", "x")
    assert words_of(tmp_path, "a/b", ("todo",)) == ("node", "../../bin/todo.js")
    assert words_of(tmp_path, ".", ("ls", "-l")) == ("ls", "-l")


def test_folders_to_import_from_are_found(tmp_path: Path) -> None:
    """src, the root, and what pyproject.toml names."""
    for name in (
        "src/one/__init__.py",
        "two.py",
        "lib/three/__init__.py",
        "docs/conf.py",
        "tests/__init__.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert import_folders(tmp_path, ".") == ("src", ".")
    (tmp_path / "pyproject.toml").write_text('[tool.setuptools.package-dir]\n"" = "lib"\n')
    assert import_folders(tmp_path, ".") == ("lib", "src", ".")
