"""Which tool was not there, by what shells and interpreters say."""

import pytest

from harness_executor.workspace.testing.absence import absent_tool


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("sh: 1: flake8: not found\n", "flake8"),
        ("/bin/sh: 1: mypy: not found", "mypy"),
        ("bash: line 1: ruff: command not found", "ruff"),
        ("> app@1.0.0 lint\n> eslint .\n\nsh: 1: eslint: not found\n", "eslint"),
        ("/project/.venv/bin/python: No module named pytest\n", "pytest"),
        ("python3.11: No module named mypy.__main__", "mypy.__main__"),
        ("pyenv: tox: command not found", "tox"),
        ("app.py:1: error: Cannot find module named x  [import]\nFound 1 error", ""),
        ("sh: 1: flake8: not found\nbut it went on, and failed", ""),
        ("GET /items: not found", ""),
        ("", ""),
    ],
)
def test_only_the_last_words_of_a_shell_or_an_interpreter_count(said: str, tool: str) -> None:
    """A program that ran and failed is not missing, whatever it printed."""
    assert absent_tool(said) == tool
