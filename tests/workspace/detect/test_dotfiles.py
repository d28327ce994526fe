"""The file of variables that a program says is not there."""

from pathlib import Path

import pytest

from harness_executor.workspace.detect.dotfiles import insisted_on
from harness_executor.workspace.detect.reading import Files
from tests.workspace.detect.trees import grow


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("FileNotFoundError: Config file '/box/shop/src/app/../../src/.env' not found.", "touch src/.env"),
        ("FileNotFoundError: [Errno 2] No such file or directory: '.env'", "touch .env"),
        ("Error: ENOENT: no such file or directory, open '/box/shop/.env'", "touch .env"),
        ("No such file or directory: 'settings.toml'", ""),
        ("it is all well with '.env'", ""),
    ],
)
def test_the_file_is_made_where_it_is_looked_for(tmp_path: Path, said: str, command: str) -> None:
    """Wherever the box has the project; what is no file of variables is not made."""
    files = Files(grow(tmp_path, {"src/app/main.py": ""}))
    step = insisted_on(files, ".", said)
    assert (step.command if step else "") == command


def test_the_example_that_is_shipped_is_copied(tmp_path: Path) -> None:
    """The nearest; a file that is there is never written over."""
    said = "No such file or directory: '.env'"
    files = Files(
        grow(tmp_path / "a", {".env.example": "A=1\n", "api/main.py": "", "api/.env.test": "A=2\n"})
    )
    step = insisted_on(files, "api", said)
    assert step
    assert step.command == "cp ../.env.example .env"
    there = Files(grow(tmp_path / "b", {"api/.env": "A=1\n"}))
    assert insisted_on(there, "api", said) is None
