"""Progress on a terminal: finished lines above, what is being done below."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

PROGRAM = """
import sys, time
from harness_executor.kernel.events import *
from harness_executor.ui.choice import progress
shown = progress()
print(type(shown).__name__, flush=True)
with shown:
    shown.fact(StepStarted(StepName.PLAN, 1))
    shown.note("planner, turn 1: asking the model")
    time.sleep(0.3)
    shown.fact(PlanApproved("policy"))
    shown.fact(TaskPaused("[bold]a password[/bold] :smile:"))
    shown.note("shell printf '\\x1b[2J\\x1b[31m'\\n■ completed")
    time.sleep(0.3)
    if "fail" in sys.argv:
        raise SystemExit(7)
shown.note("after the end")
"""


def _on_a_terminal(*words: str, **env: str) -> tuple[str, str, int]:
    """What a program shows on a terminal, what it prints on standard output, and its exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        stdout=subprocess.PIPE,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": "", "COLUMNS": "100", **env},
    )
    os.close(theirs)
    shown = b""
    while chunk := _read(ours):
        shown += chunk
    os.close(ours)
    out, _ = process.communicate(timeout=30)
    return shown.decode(), out, process.returncode


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def test_shows_facts_and_what_is_being_done() -> None:
    """Facts stay as lines, and the spinner says what is going on."""
    shown, out, code = _on_a_terminal()
    assert (out, code) == ("Live\n", 0)
    assert "▸ plan" in shown
    assert "planner, turn 1: asking the model" in shown


def test_leaves_the_cursor_where_it_belongs() -> None:
    """The cursor that was hidden for the spinner is shown again, also when the program fails."""
    for words in ([], ["fail"]):
        shown, _, code = _on_a_terminal(*words)
        assert code == (7 if words else 0)
        assert shown.count("\x1b[?25l") >= 1
        assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")


def test_shows_the_text_of_others_as_it_is() -> None:
    """Markup, emoji names and control characters of a model are text; none of them takes effect."""
    shown, _, _ = _on_a_terminal()
    assert "paused: [bold]a password[/bold] :smile:" in shown
    assert "\\x1b[2J\\x1b[31m" in shown
    assert "\x1b[2J" not in shown
    assert "\n■ completed" not in shown


def test_says_nothing_of_what_is_done_after_the_end() -> None:
    """A note after the block is left out."""
    shown, _, _ = _on_a_terminal()
    assert "after the end" not in shown
    assert "\x1b[?25h" in shown


def test_a_narrow_terminal_is_enough() -> None:
    """Twenty columns break lines, not the program."""
    shown, _, code = _on_a_terminal(COLUMNS="20")
    assert code == 0
    assert "▸ plan" in shown
