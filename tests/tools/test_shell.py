"""Run commands in the tree."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_executor.sandbox.base import Sandbox
from harness_executor.sandbox.forked import ForkedSandbox, start_keepers
from harness_executor.tools import shell
from harness_executor.tools.base import MAX_RESULT, Place, ToolError
from harness_executor.tools.files import reading_tools
from harness_executor.tools.shell import MOST, Terminal
from tests.patience import until
from tests.rooms import room


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """A sandbox for all commands."""
    keepers = start_keepers()
    yield ForkedSandbox(keepers.line)
    keepers.close()


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is begun in the background may take long to say its first words."""
    monkeypatch.setattr(shell, "_LOOK", 3.0)


@pytest.fixture
def terminal(box: Sandbox, tmp_path: Path) -> Iterator[Terminal]:
    """A terminal in an empty tree."""
    (tmp_path / "tree").mkdir()
    place = Place(tmp_path / "tree", tmp_path / "scratch" / "output")
    terminal = Terminal(place, box.open(room(place.root)), tmp_path / "scratch" / "shell.log")
    yield terminal
    terminal.close()


def _shell(terminal: Terminal, command: str, **more: Any) -> str:
    return terminal.tools()[0].use({"command": command, **more})


def _process(terminal: Terminal, number: int, **more: Any) -> str:
    return terminal.tools()[1].use({"id": number, **more})


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
    assert _shell(terminal, "pwd; touch made").startswith(f"{terminal.place.root}\n")
    assert (terminal.place.root / "made").exists()


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
    assert said.endswith("\n[ended: it ran out of time]")
    assert time.monotonic() - began < 20
    assert not _is_there(int((terminal.place.root / "pid").read_text()))


@pytest.mark.parametrize("seconds", [0, -5])
def test_every_command_has_a_second(terminal: Terminal, seconds: int) -> None:
    """A limit below one is read as one."""
    began = time.monotonic()
    assert _shell(terminal, "sleep 1000", seconds=seconds).endswith("[ended: it ran out of time]")
    assert time.monotonic() - began >= 1


def test_what_it_started_ends_with_it(terminal: Terminal) -> None:
    """A process left in the background is gone when the command is."""
    _shell(terminal, "setsid sleep 1000 & echo $! > pid")
    assert not _is_there(int((terminal.place.root / "pid").read_text()))


def test_it_does_not_wait_for_input(terminal: Terminal) -> None:
    """A command that reads finds the end at once."""
    assert _shell(terminal, "cat; echo read", seconds=60) == "read\n\n[exit code 0]"


def test_long_output_is_kept_and_its_ends_are_shown(terminal: Terminal) -> None:
    """The beginning, what is left out, the end and the exit code are there, and the whole is in a file."""
    many = 10 * MAX_RESULT
    said = _shell(terminal, f"echo first; head -c {many} /dev/zero | tr '\\0' x; echo; echo last; exit 3")
    assert said.startswith("first\nxxx")
    assert said.endswith("xxx\nlast\n\n[exit code 3]")
    assert len(said) <= MAX_RESULT
    assert said.count("bytes left out; all of it is in @output/1.txt …") == 1
    assert (terminal.place.spill / "1.txt").read_text() == "first\n" + "x" * many + "\nlast\n"
    (read,) = reading_tools(terminal.place)
    assert read.use({"path": "@output/1.txt", "first": 3}) == "3\tlast"


def test_output_without_end_ends_the_command(terminal: Terminal) -> None:
    """A command that says more than is kept is ended and told why."""
    said = _shell(terminal, "yes", seconds=60)
    assert said.endswith("\n[ended: it printed more than is kept]")
    assert (terminal.place.spill / "1.txt").stat().st_size == 16_000_000


def test_a_command_in_the_background_goes_on(terminal: Terminal) -> None:
    """It is named by a number, its output can be read while it runs, and other commands run beside it."""
    said = _shell(
        terminal, "echo up; until [ -e go ]; do sleep 0.01; done; echo went; exit 5", background=True
    )
    assert re.fullmatch(r"started as process 1, .* @output/1.txt\nup\n\n\[running for \d+ s\]", said)
    assert _shell(terminal, "echo beside") == "beside\n\n[exit code 0]"
    assert re.fullmatch(r"up\n\n\[running for \d+ s\]", _process(terminal, 1))
    (terminal.place.root / "go").touch()
    assert until(lambda: _process(terminal, 1) == "up\nwent\n\n[exit code 5]")
    (read,) = reading_tools(terminal.place)
    assert read.use({"path": "@output/1.txt"}) == "1\tup\n2\twent"


def test_a_background_command_that_fails_at_once_says_so(terminal: Terminal) -> None:
    """A server that cannot start is not called started and forgotten."""
    assert _shell(terminal, "echo no port; exit 1", background=True).endswith("\nno port\n\n[exit code 1]")


def test_a_background_command_is_stopped_with_all_it_started(terminal: Terminal) -> None:
    """Stopping ends it politely, and its children, and says how it ended."""
    command = "trap 'echo bye; exit 7' TERM; setsid sleep 1000 & echo $! > pid; wait"
    _shell(terminal, command, background=True)
    assert until((terminal.place.root / "pid").exists)
    assert _process(terminal, 1, stop=True) == "bye\n\n[exit code 7]"
    assert not _is_there(int((terminal.place.root / "pid").read_text()))
    assert _process(terminal, 1, stop=True) == "bye\n\n[exit code 7]"


def test_closing_ends_the_background(terminal: Terminal) -> None:
    """When the subagent ends, nothing stays in the background."""
    for number in range(3):
        _shell(terminal, f"sleep 1000 & echo $! > pid{number}; wait", background=True)
    assert until(lambda: all((terminal.place.root / f"pid{number}").exists() for number in range(3)))
    terminal.close()
    assert not any(_is_there(int(path.read_text())) for path in terminal.place.root.glob("pid*"))


def test_a_long_log_is_shown_by_its_end(terminal: Terminal) -> None:
    """Looking at a talkative process shows what it said last."""
    said = _shell(terminal, "seq 100000; exec sleep 1000", background=True)
    assert "bytes before …\n" in said
    assert "\n100000\n\n[running for " in said
    assert len(said) < MAX_RESULT


def test_a_process_that_is_not_there_is_named(terminal: Terminal) -> None:
    """A wrong number is answered with the right ones."""
    with pytest.raises(ToolError, match="there is no process 7; known: none"):
        _process(terminal, 7)
    _shell(terminal, "true", background=True)
    with pytest.raises(ToolError, match="there is no process 7; known: 1"):
        _process(terminal, 7)


def test_the_background_has_a_limit(terminal: Terminal) -> None:
    """Only so many commands run at once; one that ended makes room."""
    for _ in range(MOST):
        _shell(terminal, "sleep 1000", background=True)
    with pytest.raises(ToolError, match=f"{MOST} commands run in the background; stop one first"):
        _shell(terminal, "sleep 1000", background=True)
    _process(terminal, 1, stop=True)
    assert "[running for " in _shell(terminal, "sleep 1000", background=True)


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
