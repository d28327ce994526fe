"""Run commands in the tree."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from harness_executor.sandbox.plain import PlainSandbox
from harness_executor.tools.base import MAX_RESULT, ToolError
from harness_executor.tools.shell import Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal in an empty tree."""
    (tmp_path / "tree").mkdir()
    return Terminal(tmp_path / "tree", PlainSandbox(), tmp_path / "scratch" / "shell.log")


def _shell(terminal: Terminal, command: str, **more: Any) -> str:
    (tool,) = terminal.tools()
    return tool.use({"command": command, **more})


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo out; echo err >&2", "out\nerr\n\n[exit code 0]"),
        ("exit 7", "\n[exit code 7]"),
        ("no-such-program", "[exit code 127]"),
        ("kill -TERM $$", "[exit code -15]"),
        ("if", "[exit code 2]"),
    ],
)
def test_gives_the_output_and_the_exit_code(terminal: Terminal, command: str, said: str) -> None:
    """Both streams come back in order, and then how it ended."""
    assert _shell(terminal, command).endswith(said)


def test_runs_in_the_tree(terminal: Terminal) -> None:
    """Where a command runs is decided by the harness."""
    assert _shell(terminal, "pwd; touch made").startswith(f"{terminal.root}\n")
    assert (terminal.root / "made").exists()


@pytest.mark.parametrize("more", [{"cwd": "/"}, {"root": "/"}, {"env": {"A": "b"}}, {"timeout": 1}])
def test_a_model_cannot_choose_where_it_runs(terminal: Terminal, more: dict[str, Any]) -> None:
    """A folder, a root or an environment in the arguments is refused."""
    with pytest.raises(ToolError, match="unknown key"):
        _shell(terminal, "true", **more)


def test_a_command_that_takes_too_long_is_ended(terminal: Terminal) -> None:
    """After its seconds it is gone, and what it said until then comes back."""
    began = time.monotonic()
    said = _shell(terminal, "echo begun; sleep 1000 & echo $! > pid; sleep 1000", seconds=3)
    assert said.startswith("begun\n")
    assert said.endswith("\n[ran out of time]")
    assert time.monotonic() - began < 20
    assert not _is_there(int((terminal.root / "pid").read_text()))


@pytest.mark.parametrize("seconds", [0, -5])
def test_every_command_has_a_second(terminal: Terminal, seconds: int) -> None:
    """A limit below one is read as one."""
    began = time.monotonic()
    assert _shell(terminal, "sleep 1000", seconds=seconds).endswith("[ran out of time]")
    assert time.monotonic() - began >= 1


def test_what_it_started_ends_with_it(terminal: Terminal) -> None:
    """A process left in the background is gone when the command is."""
    _shell(terminal, "setsid sleep 1000 & echo $! > pid")
    assert not _is_there(int((terminal.root / "pid").read_text()))


def test_it_does_not_wait_for_input(terminal: Terminal) -> None:
    """A command that reads finds the end at once."""
    assert _shell(terminal, "cat; echo read", seconds=60) == "read\n\n[exit code 0]"


def test_long_output_is_clipped_once(terminal: Terminal) -> None:
    """The beginning, the true number of characters left out, the end and the exit code are there."""
    said = _shell(
        terminal, f"echo first; head -c {2 * MAX_RESULT} /dev/zero | tr '\\0' x; echo; echo last; exit 3"
    )
    whole = len("first\n") + 2 * MAX_RESULT + len("\nlast\n\n[exit code 3]")
    assert said.startswith("first\nxxx")
    assert said.endswith("xxx\nlast\n\n[exit code 3]")
    assert said.count("left out") == 1
    assert f"… {whole - MAX_RESULT} characters left out …" in said


def test_output_that_is_not_text_is_shown_as_far_as_it_goes(terminal: Terminal) -> None:
    """Bytes that are no text become marks."""
    assert _shell(terminal, r"printf 'a\377b'") == "a\ufffdb\n[exit code 0]"


def test_each_command_has_its_own_output(terminal: Terminal) -> None:
    """Nothing of an earlier command is said again."""
    _shell(terminal, "echo one")
    assert _shell(terminal, "echo two") == "two\n\n[exit code 0]"


def test_no_key_is_in_its_environment(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command sees a path, a home and a language, and nothing that opens a door."""
    for name in ("ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "HARNESS_MODEL", "PYTHONPATH"):
        monkeypatch.setenv(name, "canary")
    said = _shell(terminal, "env")
    assert "canary" not in said
    assert {line.partition("=")[0] for line in said.splitlines() if "=" in line} <= {
        *("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"),
        *("PWD", "OLDPWD", "SHLVL", "_"),
    }


@pytest.mark.parametrize("command", ["a\0b", "x" * 3_000_000])
def test_a_command_that_cannot_be_started_is_told(terminal: Terminal, command: str) -> None:
    """A NUL and a command longer than the system takes are errors for the model."""
    with pytest.raises(ToolError, match=r"null byte|Argument list too long"):
        _shell(terminal, command)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    return state not in "ZX"
