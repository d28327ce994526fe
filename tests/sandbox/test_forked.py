"""Commands under keepers that are forked: what is their own beside the contract of every sandbox."""

import os
import signal
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness_executor.errors import AgentDied
from harness_executor.sandbox.base import Command
from harness_executor.sandbox.forked import ForkedSandbox, Keepers, start_keepers
from harness_executor.sandbox.keeper import children_of
from tests.patience import until
from tests.sandbox.staying import STAYERS, Mark, python


@pytest.fixture
def keepers() -> Iterator[Keepers]:
    """A process that has keepers ready."""
    keepers = start_keepers()
    yield keepers
    keepers.close()


@pytest.fixture
def forked(keepers: Keepers) -> ForkedSandbox:
    """The sandbox under test."""
    return ForkedSandbox(keepers.line)


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP"])
def test_a_keeper_takes_any_signal_from_the_first_moment(
    forked: ForkedSandbox, mark: Mark, name: str
) -> None:
    """A command that signals its keeper at once never ends it, in 500 tries."""
    codes = [forked.run(mark.command("sh", "-c", f"kill -{name} $PPID; exit 3"), 30).code for _ in range(500)]
    assert codes == [3] * 500


def test_a_keeper_keeps_one_command_after_the_other(forked: ForkedSandbox, mark: Mark) -> None:
    """Commands that follow each other share a few keepers, and have nothing of each other."""
    said = []
    for number in range(50):
        words = f"echo $PPID; ls /proc/self/fd | wc -l; exit {number}"
        done = forked.run(mark.command("sh", "-c", words), 30)
        assert done.code == number
        said.append(done.output.split())
    assert len({keeper for keeper, _ in said}) <= 4
    assert {opened for _, opened in said} == {"4"}


def test_commands_run_at_the_same_time(forked: ForkedSandbox, mark: Mark) -> None:
    """Each of many owners' commands has a keeper of its own, its own output and its own code."""

    def run(number: int) -> tuple[int, str]:
        log = mark.folder / f"log{number}"
        words = f"sleep 0.05; echo {number}; exit {number}"
        done = forked.run(Command(("sh", "-c", words), mark.folder, mark.env, log), 60)
        return done.code, done.output

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(80))) == [(number, f"{number}\n") for number in range(80)]


def test_the_warm_process_has_no_secret(keepers: Keepers, forked: ForkedSandbox, mark: Mark) -> None:
    """A command finds no environment above it, whatever its owner was given."""
    words = "tr '\\0' '\\n' < /proc/$PPID/environ; cat /proc/$(cut -d' ' -f4 /proc/$PPID/stat)/environ"
    done = forked.run(mark.command("sh", "-c", words), 30)
    assert (done.code, done.output) == (0, "")


def test_a_stopped_keeper_goes_on(forked: ForkedSandbox, mark: Mark) -> None:
    """A command that stops its keeper is reported as soon as it ends."""
    for _ in range(20):
        assert forked.run(mark.command("sh", "-c", "kill -STOP $PPID; exit 3"), 30).code == 3


@pytest.mark.parametrize("name", STAYERS)
def test_what_a_killed_keeper_leaves_is_ended(
    keepers: Keepers, forked: ForkedSandbox, mark: Mark, name: str
) -> None:
    """A command that hides its children and kills its keeper gains nothing, and the next one is kept."""
    (mark.folder / "stay.py").write_text(python(STAYERS[name])[-1])
    stay = (
        f"{sys.executable} -S -E stay.py & while [ ! -e up ]; do sleep 0.01; done; kill -9 $PPID; sleep 600"
    )
    assert forked.run(mark.command("sh", "-c", stay), 30).code == -signal.SIGKILL
    assert until(lambda: not mark.alive())
    assert forked.run(mark.command("sh", "-c", "exit 4"), 30).code == 4
    assert until(lambda: len(children_of({keepers.process.pid})) == 2)


def test_other_commands_outlive_a_killed_keeper(forked: ForkedSandbox, mark: Mark) -> None:
    """What becomes of one command is nothing to its neighbours."""
    log = mark.folder / "other"
    other = forked.start(Command(("sh", "-c", "sleep 600 & wait"), mark.folder, mark.env, log))
    assert until(lambda: len(other.pids()) == 2)
    forked.run(mark.command("sh", "-c", "sleep 600 & kill -9 $PPID; sleep 600"), 30)
    assert until(lambda: mark.alive() == other.pids())
    assert other.exit_code() is None
    assert other.stop(1.0)


def test_nothing_is_left_when_the_line_closes(mark: Mark) -> None:
    """When nobody can ask any more, the warm process ends with everything it keeps."""
    keepers = start_keepers()
    box = ForkedSandbox(keepers.line)
    for _ in range(3):
        box.start(mark.command(*python("os.fork()\nup()\ntime.sleep(600)")))
    assert mark.is_up()
    below = children_of({keepers.process.pid})
    keepers.close()
    assert keepers.process.wait(0) == 0
    assert mark.alive() == set()
    assert not any(Path(f"/proc/{pid}").exists() for pid in below)


def test_a_warm_process_that_died_is_a_named_failure(keepers: Keepers, mark: Mark) -> None:
    """A command that cannot be kept is not started, and loses no descriptor."""
    os.kill(keepers.process.pid, signal.SIGKILL)
    assert keepers.process.wait(10) == -signal.SIGKILL
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(AgentDied, match="cannot be kept"):
        ForkedSandbox(keepers.line).start(mark.command("true"))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_message_that_is_no_request_does_no_harm(
    keepers: Keepers, forked: ForkedSandbox, mark: Mark, count: int
) -> None:
    """A message with too few descriptors is passed over, and none of them stays open."""
    ends = [os.pipe() for _ in range(count)]
    socket.send_fds(keepers.line, [b"keep"], [write for _, write in ends])
    for _, write in ends:
        os.close(write)
    assert forked.run(mark.command("sh", "-c", "exit 2"), 30).code == 2
    for read, _ in ends:
        assert os.read(read, 1) == b""
        os.close(read)


def test_a_keeper_that_is_stopped_for_ever_does_not_stay(mark: Mark) -> None:
    """A command that stops its keeper again and again ends with it when the line closes."""
    keepers = start_keepers()
    ForkedSandbox(keepers.line).start(
        mark.command("sh", "-c", "touch up; while :; do kill -STOP $PPID; done")
    )
    assert mark.is_up()
    keepers.close()
    assert mark.alive() == set()
