"""The sandboxes without a box: what a command gets, how it ends, and that nothing is left of it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_executor.kernel.assurance import Assurance
from harness_executor.sandbox.base import Cause, Command, Finished, Running
from harness_executor.sandbox.kept import read_tail
from harness_executor.sandbox.unboxed import Runner
from tests.patience import until
from tests.sandbox.staying import STAYERS, Mark, python, script

OWNER = """
import json, sys, time
from pathlib import Path
from harness_executor.sandbox.base import Command
from harness_executor.sandbox.forked import ForkedSandbox, start_keepers
from harness_executor.sandbox.plain import PlainSandbox

kind, argv, folder, env = json.loads(sys.argv[1])
keepers = start_keepers() if kind == "ForkedSandbox" else None
box = ForkedSandbox(keepers.line) if keepers else PlainSandbox()
running = box.start(Command(tuple(argv), Path(folder), env, Path(folder) / "log"))
time.sleep(600)
"""
"""A coordinator in small: it starts a command and holds on to it."""


@pytest.fixture
def spare() -> Iterator[int]:
    """A descriptor of the owner that any child would inherit."""
    ours, theirs = os.pipe()
    os.set_inheritable(theirs, True)
    yield theirs
    os.close(ours)
    os.close(theirs)


def output(box: Runner, mark: Mark, *argv: str) -> str:
    """What a command says."""
    done = box.run(mark.command(*argv), 20)
    assert done.ok, done.output
    return done.output


def test_says_that_it_is_no_box(box: Runner) -> None:
    """What runs here is never called sandboxed."""
    assert box.assurance is Assurance.UNSANDBOXED


@pytest.mark.parametrize(
    ("words", "code"),
    [("exit 0", 0), ("exit 3", 3), ("kill -KILL $$", -9), ("kill -SEGV $$", -11), ("exec false", 1)],
)
def test_gives_the_code_a_command_ended_with(box: Runner, mark: Mark, words: str, code: int) -> None:
    """Codes and signals come through as they were."""
    done = box.run(mark.command("sh", "-c", words), 20)
    assert (done.code, done.cause, done.ok) == (code, Cause.NONE, code == 0)


def test_gives_what_a_command_said_on_both_streams(box: Runner, mark: Mark) -> None:
    """Standard output and standard error are one text, in order."""
    assert output(box, mark, "sh", "-c", "echo one; echo two >&2; echo three") == "one\ntwo\nthree\n"


def test_gives_bytes_that_are_no_text(box: Runner, mark: Mark) -> None:
    """Output that is not UTF-8 is shown with replacements."""
    assert output(box, mark, "printf", r"\377ok") == "\N{REPLACEMENT CHARACTER}ok"


@pytest.mark.parametrize("name", ["no-such-program", "-n", "name\udcff", "./not-executable"])
def test_a_command_that_cannot_start_ends_with_127(box: Runner, mark: Mark, name: str) -> None:
    """A program that is not there or cannot be run is named, with the code a shell uses."""
    (mark.folder / "not-executable").write_text("text")
    done = box.run(mark.command(name), 20)
    assert done.code == 127
    assert done.output.startswith(f"cannot start {name.replace(chr(0xDCFF), chr(0xFFFD))} in ")


def test_a_folder_that_is_not_there_is_named(box: Runner, mark: Mark) -> None:
    """A command in a missing folder does not start, and says which folder."""
    where = mark.folder / "missing"
    done = box.run(Command(("true",), where, mark.env, mark.folder / "log"), 20)
    assert done == Finished(127, f"cannot start true in {where}: No such file or directory\n")


def test_runs_in_the_folder_it_is_given(box: Runner, mark: Mark) -> None:
    """The command's folder is the given one, and relative programs are found there."""
    program = mark.folder / "here.sh"
    program.write_text("#!/bin/sh\npwd -P\n")
    program.chmod(0o755)
    assert output(box, mark, "./here.sh") == f"{mark.folder.resolve()}\n"


def test_the_environment_is_exactly_what_is_given(
    box: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the owner's environment reaches a command, and nothing is added, even without a locale."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    env = shutil.which("env")
    assert env is not None
    done = box.run(Command((env,), tmp_path, {"ONLY": "this=that"}, tmp_path / "log"), 20)
    assert done.output == "ONLY=this=that\n"


def test_an_empty_environment_stays_empty(box: Runner, tmp_path: Path) -> None:
    """A command that is given no variable sees none."""
    env = shutil.which("env")
    assert env is not None
    assert box.run(Command((env,), tmp_path, {}, tmp_path / "log"), 20) == Finished(0, "")


def test_only_three_descriptors_reach_a_command(box: Runner, mark: Mark, spare: int) -> None:
    """No descriptor of the owner or of the keeper is open in a command."""
    body = """
        for number in range(4096):
            try:
                os.fstat(number)
                print(number, end=" ")
            except OSError:
                pass
    """
    assert spare > 2
    assert output(box, mark, *python(body)).split() == ["0", "1", "2"]


def test_standard_input_is_empty(box: Runner, mark: Mark) -> None:
    """A command that reads its input finds the end at once."""
    assert output(box, mark, "sh", "-c", "readlink /proc/self/fd/0; cat") == "/dev/null\n"


RESERVED = 0b11 << 31
"""Signals 32 and 33 belong to the C library; no program can set them back."""


@pytest.fixture
def behind_nohup() -> Iterator[None]:
    """This program, as `nohup` and the `&` of a shell start it."""
    ignored = {sign: signal.signal(sign, signal.SIG_IGN) for sign in (signal.SIGHUP, signal.SIGQUIT)}
    yield
    for sign, handler in ignored.items():
        signal.signal(sign, handler)


@pytest.mark.usefixtures("behind_nohup")
def test_a_command_starts_with_no_signal_ignored_or_blocked(box: Runner, mark: Mark) -> None:
    """What the keeper does about signals, and how this program was started, does not reach its command."""
    said = output(box, mark, "grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status")
    masks = [int(line.split()[1], 16) & ~RESERVED for line in said.splitlines()]
    assert masks == [0, 0]


def test_a_command_has_a_session_of_its_own(box: Runner, mark: Mark) -> None:
    """A command cannot reach the terminal or the process group of its owner."""
    assert output(box, mark, *python("print(os.getsid(0) == os.getpgid(0) == os.getpid())")) == "True\n"


def test_a_command_ends_with_its_time(box: Runner, mark: Mark) -> None:
    """A command that takes too long is ended, is not ok, and keeps what it said."""
    began = time.monotonic()
    done = box.run(mark.command("sh", "-c", "echo begun; exec sleep 600"), 5.0)
    assert time.monotonic() - began < 60
    assert done.cause is Cause.TIME
    assert not done.ok
    assert done.output == "begun\n"
    assert mark.alive() == set()


def test_a_command_with_no_time_is_ended_too(box: Runner, mark: Mark) -> None:
    """No time at all is a timeout, not a hang."""
    assert box.run(mark.command("sleep", "600"), 0).cause is Cause.TIME
    assert mark.alive() == set()


def test_a_flood_of_output_ends_the_command(box: Runner, mark: Mark) -> None:
    """A command that says more than may be kept is ended long before its time, and no more is kept."""
    began = time.monotonic()
    done = box.run(mark.command("yes", log_limit=100_000), 60)
    assert time.monotonic() - began < 10
    assert done.cause is Cause.OUTPUT
    assert (mark.folder / "log").stat().st_size == 100_000
    assert mark.alive() == set()


def test_a_flood_does_not_stop_a_command_that_is_only_started(box: Runner, mark: Mark) -> None:
    """A started command may say what it likes; its log stays small and it goes on."""
    words = "head -c 20000000 /dev/zero; touch up; while :; do sleep 0.01; done"
    running = box.start(mark.command("sh", "-c", words, log_limit=50_000))
    assert mark.is_up()
    assert (mark.folder / "log").stat().st_size == 50_000
    assert running.stop(1.0)


def test_a_command_that_is_run_needs_a_log(box: Runner, tmp_path: Path) -> None:
    """Without a place for its output a command is not run to its end."""
    with pytest.raises(ValueError, match="needs a log"):
        box.run(Command(("true",), tmp_path), 1)


def test_a_command_may_be_started_without_a_log(box: Runner, tmp_path: Path) -> None:
    """Output that nobody wants goes nowhere."""
    running = box.start(Command(("echo", "unheard"), tmp_path, {"PATH": os.environ["PATH"]}))
    assert running.wait(20) == 0


def test_a_command_too_long_to_start_leaves_nothing_open(box: Runner, mark: Mark) -> None:
    """When the system refuses to start a command, the owner gets the error and loses no descriptor."""
    before = descriptors()
    with pytest.raises(OSError, match="Argument list too long"):
        box.start(mark.command("echo", "x" * 3_000_000))
    assert descriptors() == before


def test_stop_asks_politely_first(box: Runner, mark: Mark) -> None:
    """A command that heeds SIGTERM ends with its own code, before its grace is over."""
    body = """
        def leave(*_):
            print("bye", flush=True)
            os._exit(5)
        signal.signal(signal.SIGTERM, leave)
        up()
        time.sleep(600)
    """
    running = box.start(mark.command(*python(body)))
    assert mark.is_up()
    began = time.monotonic()
    assert running.stop(30.0)
    assert time.monotonic() - began < 10
    assert running.exit_code() == 5
    assert read_tail(mark.folder / "log", 100) == "bye\n"


def test_stop_kills_after_its_grace(box: Runner, mark: Mark) -> None:
    """A command that ignores SIGTERM has its grace, and no more."""
    running = box.start(mark.command(*python(STAYERS["ignores every polite signal"])))
    assert mark.is_up()
    began = time.monotonic()
    assert running.stop(0.4)
    assert 0.4 <= time.monotonic() - began < 5
    assert running.exit_code() == -signal.SIGKILL
    assert mark.alive() == set()


def test_stop_ends_a_command_that_is_held(box: Runner, mark: Mark) -> None:
    """A stopped process hears no SIGTERM, and is killed."""
    running = box.start(mark.command("sh", "-c", "touch up; kill -STOP $$"))
    assert mark.is_up()
    assert running.stop(0.1)
    assert mark.alive() == set()


def test_stop_is_heard_by_a_command_that_only_just_started(box: Runner, mark: Mark) -> None:
    """A command that is ended in its first moment does not use up its grace."""
    began = time.monotonic()
    for _ in range(5):
        assert box.start(mark.command("sleep", "600")).stop(30.0)
    assert time.monotonic() - began < 20


def test_stop_may_be_said_twice(box: Runner, mark: Mark) -> None:
    """Ending what has ended is true at once."""
    running = box.start(mark.command("true"))
    assert running.wait(20) == 0
    assert running.stop(0)
    assert running.stop(0)


def test_knows_its_processes_while_it_runs(box: Runner, mark: Mark) -> None:
    """Every child of a command is known, and none once it ended."""
    running = box.start(mark.command("sh", "-c", "sleep 600 & sleep 600 & wait"))
    assert until(lambda: len(running.pids()) == 3)
    assert running.exit_code() is None
    assert running.stop(1.0)
    assert running.pids() == set()


@pytest.mark.parametrize("name", STAYERS)
def test_nothing_survives_a_stop(box: Runner, mark: Mark, name: str) -> None:
    """However a command hides its children, stop ends them and says so."""
    running = box.start(mark.command(*python(STAYERS[name])))
    assert mark.is_up()
    assert running.stop(0.2)
    assert mark.alive() == set()


@pytest.mark.parametrize("name", STAYERS)
def test_nothing_survives_the_end_of_the_command(box: Runner, mark: Mark, name: str) -> None:
    """What a command leaves in the background ends with it."""
    script_file = mark.folder / "stay.py"
    script_file.write_text(script(STAYERS[name]))
    words = f"'{sys.executable}' -S -E stay.py & while [ ! -e up ]; do sleep 0.01; done; exit 9"
    assert box.run(mark.command("sh", "-c", words), 20).code == 9
    assert mark.alive() == set()


@pytest.mark.parametrize("name", STAYERS)
def test_nothing_survives_the_death_of_its_owner(box: Runner, mark: Mark, name: str) -> None:
    """When the owner is killed with SIGKILL, every descendant is gone within two seconds."""
    owner = own(box, mark, *python(STAYERS[name]))
    assert mark.is_up()
    assert mark.alive() != set()
    owner.kill()
    owner.wait(10)
    assert mark.is_gone(2.0)


def test_a_killed_keeper_is_never_called_clean(box: Runner, mark: Mark) -> None:
    """When a command kills its keeper, its end is a failure and nobody says that nothing is left."""
    running = box.start(mark.command(*python("os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(600)")))
    assert running.wait(10) == -signal.SIGKILL
    assert running.stop(0.1) is False
    assert mark.is_gone()


def test_a_killed_keeper_fails_the_run(box: Runner, mark: Mark) -> None:
    """A command that kills its keeper and claims success has not succeeded."""
    assert not box.run(mark.command("sh", "-c", "kill -KILL $PPID; exit 0"), 20).ok


def test_fifty_starts_and_stops_leak_nothing(box: Runner, mark: Mark) -> None:
    """After many commands the owner has the descriptors it had, and no process is left."""
    box.start(mark.command("sleep", "600")).stop(1.0)
    before, unburied = descriptors(), zombies()
    for _ in range(50):
        running = box.start(mark.command("sleep", "600"))
        assert running.stop(1.0)
    assert descriptors() == before
    assert mark.alive() == set()
    assert zombies() <= unburied


def test_commands_side_by_side_do_not_hold_each_other(box: Runner, mark: Mark) -> None:
    """A command that was started later does not keep an earlier one from being ended."""
    running: list[Running] = [box.start(mark.command("sleep", "600")) for _ in range(4)]
    assert all(one.stop(1.0) for one in running)
    assert mark.alive() == set()


def test_reads_the_end_of_a_long_output(tmp_path: Path) -> None:
    """Only the last bytes of an output are read, and a cut character does no harm."""
    path = tmp_path / "log"
    path.write_text("begin " + "é" * 10)
    assert read_tail(path, 5) == "\N{REPLACEMENT CHARACTER}éé"
    assert read_tail(path, 1000) == "begin " + "é" * 10


def own(box: Runner, mark: Mark, *argv: str) -> "subprocess.Popen[bytes]":
    """A process that owns a command."""
    import json

    job = json.dumps([type(box).__name__, argv, str(mark.folder), mark.env])
    return subprocess.Popen([sys.executable, "-c", OWNER, job], cwd=mark.folder)


def descriptors() -> int:
    """How many descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def zombies() -> set[int]:
    """Children of this process that nobody waited for."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text().split():
            if "State:\tZ" in Path(f"/proc/{child}/status").read_text():
                found.add(int(child))
    return found
