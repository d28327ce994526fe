"""The keeper as a program: what it is told, what it reports, and that it outlives nothing."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness_executor.sandbox import keeper
from tests.patience import until
from tests.sandbox.staying import STAYERS, Mark, python


class Kept:
    """A keeper that was started by hand."""

    def __init__(self, mark: Mark, *argv: str, limit: int = 1_000_000, stdout: int | None = None) -> None:
        self.report, ours = os.pipe()
        words = [sys.executable, "-I", "-S", keeper.__file__, str(ours), str(limit), str(mark.folder), *argv]
        with (mark.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                words,
                env=mark.env,
                stdin=subprocess.PIPE,
                stdout=log if stdout is None else stdout,
                stderr=log,
                pass_fds=(ours,),
            )
        os.close(ours)

    def say(self, word: bytes) -> None:
        """Tell the keeper something."""
        assert self.process.stdin is not None
        self.process.stdin.write(word)
        self.process.stdin.flush()

    def let_go(self) -> None:
        """Close the owner's hand."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def reported(self) -> bytes:
        """What it reports before it ends, after its process id."""
        with os.fdopen(self.report, "rb") as stream:
            pid, _, said = stream.read().partition(b"\n")
        assert int(pid) == self.process.pid
        self.let_go()
        self.process.wait(10)
        return said


Keep = Callable[..., Kept]


@pytest.fixture
def keep(mark: Mark) -> Iterator[Keep]:
    """Start keepers; each is ended with the test."""
    started: list[Kept] = []

    def start(*argv: str, limit: int = 1_000_000, stdout: int | None = None) -> Kept:
        started.append(Kept(mark, *argv, limit=limit, stdout=stdout))
        return started[-1]

    yield start
    for kept in started:
        kept.let_go()
        kept.process.kill()
        kept.process.wait(10)


def test_reports_the_exit_code_of_its_command(keep: Keep) -> None:
    """The code of the command is reported after the process id of the keeper, and nothing else."""
    assert keep("sh", "-c", "exit 7").reported() == b"7\n"


def test_reports_the_signal_that_ended_its_command(keep: Keep) -> None:
    """A command that a signal ended has the negative number of the signal."""
    assert keep("sh", "-c", "kill -SEGV $$").reported() == b"-11\n"


def test_reports_only_when_nothing_is_left(keep: Keep, mark: Mark) -> None:
    """The report of a command that left a child behind comes after the end of that child."""
    kept = keep("sh", "-c", "sleep 600 & exit 0")
    assert kept.reported() == b"0\n"
    assert mark.alive() == set()


@pytest.mark.parametrize("name", STAYERS)
def test_ends_everything_when_the_hand_is_closed(keep: Keep, mark: Mark, name: str) -> None:
    """When the owner's hand closes, whatever the command became is killed."""
    kept = keep(*python(STAYERS[name]))
    assert mark.is_up()
    kept.let_go()
    assert kept.reported() == b"-9\n"
    assert mark.alive() == set()


def test_asks_politely_when_told_to(keep: Keep, mark: Mark) -> None:
    """`T` sends SIGTERM, and a command that heeds it ends by itself."""
    kept = keep(*python("signal.signal(signal.SIGTERM, lambda *_: os._exit(5))\nup()\ntime.sleep(600)"))
    assert mark.is_up()
    kept.say(b"T")
    assert kept.reported() == b"5\n"


def test_takes_any_other_word_as_the_end(keep: Keep, mark: Mark) -> None:
    """A word the keeper does not know means kill, not go on."""
    kept = keep(*python("up()\ntime.sleep(600)"))
    assert mark.is_up()
    kept.say(b"X")
    assert kept.reported() == b"-9\n"


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_goes_on_through_signals_of_a_terminal(keep: Keep, mark: Mark, sign: signal.Signals) -> None:
    """A signal to the keeper itself neither ends it nor its command."""
    kept = keep("sh", "-c", "touch up; while [ ! -e go ]; do sleep 0.01; done; exit 3")
    assert mark.is_up()
    kept.process.send_signal(sign)
    (mark.folder / "go").touch()
    assert kept.reported() == b"3\n"


def test_keeps_no_more_output_than_it_may(keep: Keep, mark: Mark) -> None:
    """Output over the limit is dropped, and the command goes on to its own end."""
    kept = keep("sh", "-c", "head -c 3000000 /dev/zero; echo end >&2; exit 4", limit=1000)
    assert kept.reported() == b"4\n"
    assert (mark.folder / "log").read_bytes() == b"\0" * 1000


def test_passes_on_what_was_said_last(keep: Keep, mark: Mark) -> None:
    """Nothing of a short output is lost, though the command ends right after it."""
    assert keep("sh", "-c", "echo out; echo err >&2").reported() == b"0\n"
    assert (mark.folder / "log").read_text() == "out\nerr\n"


def test_survives_a_full_disk(keep: Keep) -> None:
    """When the log cannot be written, the command still runs and its code is still reported."""
    with Path("/dev/full").open("wb") as full:
        assert keep("sh", "-c", "echo lost; exit 6", stdout=full.fileno()).reported() == b"6\n"


def test_its_command_dies_with_it(keep: Keep, mark: Mark) -> None:
    """A killed keeper reports nothing, and takes the command along."""
    kept = keep(*python("up()\ntime.sleep(600)"))
    assert mark.is_up()
    kept.process.kill()
    assert kept.reported() == b""
    assert mark.is_gone()


def test_asks_a_process_before_those_it_started() -> None:
    """Whatever their numbers are, no process comes after one of its children."""
    table = {7: 900, 900: 8, 8: 64, 1000: 8, 64: 2, 3: 1, 2: 1}
    assert keeper.descending({2}, table) in ([64, 8, 900, 1000, 7], [64, 8, 1000, 900, 7])


def test_sees_children_of_children_and_no_stranger(mark: Mark) -> None:
    """Every process below a process is found, whatever its name, and none beside it."""
    shell, sleep = shutil.which("sh"), shutil.which("sleep")
    assert shell is not None
    assert sleep is not None
    odd = mark.folder / ") 1 (sleep"
    shutil.copy(sleep, odd)
    script = f"( '{odd}' 600 & wait ) & wait"
    stranger = subprocess.Popen([sleep, "600"])
    parent = subprocess.Popen([shell, "-c", script], env=mark.env)
    try:
        assert until(lambda: len(keeper.children_of({parent.pid})) == 2)
        assert keeper.children_of({parent.pid}) == mark.alive() - {parent.pid}
        assert stranger.pid not in keeper.children_of({parent.pid})
    finally:
        for process in (parent, stranger):
            process.kill()
            process.wait()
