"""Which way of showing progress fits where the program runs."""

import os
import pty
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from harness_executor.ui.choice import progress
print(type(progress()).__name__, "rich" in sys.modules)
"""


def _chosen(*, terminal: bool, **env: str) -> str:
    """What is chosen with standard error on a terminal, or in a pipe."""
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            stdout=subprocess.PIPE,
            stderr=theirs if terminal else subprocess.PIPE,
            text=True,
            check=True,
            env={**os.environ, "NO_COLOR": "", "TERM": "xterm", **env},
        )
    finally:
        os.close(ours)
        os.close(theirs)
    return done.stdout.strip()


def test_a_terminal_gets_a_live_display() -> None:
    """On a terminal there is a spinner."""
    assert _chosen(terminal=True) == "Live True"


def test_a_pipe_gets_plain_lines_and_loads_nothing_for_them() -> None:
    """In a pipe or a log there are lines, and the terminal library is not loaded."""
    assert _chosen(terminal=False) == "Lines False"


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_who_asks_for_plain_text_gets_lines(env: dict[str, str]) -> None:
    """NO_COLOR and a dumb terminal are obeyed."""
    assert _chosen(terminal=True, **env) == "Lines False"
