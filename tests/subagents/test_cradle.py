"""Where a subagent's process comes from: a new interpreter, or a fork of a warm one."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from harness_executor.clock import SystemClock
from harness_executor.errors import AgentDied
from harness_executor.sandbox.keeper import children_of
from harness_executor.subagents.cradle import Child, Cradle, FreshCradle, NurseryCradle
from harness_executor.subagents.jobs import Beat, Job
from harness_executor.subagents.replies import WorkReply
from harness_executor.subagents.spawn import Agents
from tests.patience import until
from tests.subagents.conftest import (
    WORKER,
    Heard,
    Office,
    Sleepers,
    call,
    processes,
    submit,
    working,
)

DONE = WorkReply("success", "added the route")


@pytest.fixture(params=["fresh", "nursery"])
def cradle(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cradle]:
    """Both ways to start a subagent, under one contract."""
    if request.param == "fresh":
        yield FreshCradle()
        return
    with closing(NurseryCradle((), tmp_path / "nursery")) as nursery:
        yield nursery


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[NurseryCradle]:
    """A nursery that is closed with the test."""
    with closing(NurseryCradle((), tmp_path / "nursery")) as nursery:
        yield nursery


def _work(cradle: Cradle, job: Job) -> Heard:
    return list(working(Agents(SystemClock(), cradle), job))[-1]


def test_a_job_is_done_by_a_process_of_its_own(cradle: Cradle, office: Office) -> None:
    """The result comes back, from another process than ours."""
    child = cradle.start(office.scratch / "err")
    assert child.pid != os.getpid()
    child.end()
    assert _work(cradle, office.job(submit())) == DONE


def test_many_jobs_one_after_another(cradle: Cradle, office: Office) -> None:
    """A second and third job meet nothing of the first."""
    for _ in range(3):
        assert _work(cradle, office.job(call("shell", command="true"), submit())) == DONE


@dataclass
class Watched:
    """A cradle whose last child is known."""

    cradle: Cradle
    last: Child | None = None

    def start(self, stderr: Path) -> Child:
        """A child of the cradle."""
        self.last = self.cradle.start(stderr)
        return self.last


def test_a_killed_child_is_known_by_its_exit_code(cradle: Cradle, office: Office, sleepers: Sleepers) -> None:
    """A child that dies in its work is told with the signal that killed it, and its commands are gone."""
    watched = Watched(cradle)
    heard = working(Agents(SystemClock(), watched), office.job(call("shell", command=sleepers.command)))
    while not isinstance(said := next(heard), Beat) or not said.doing.startswith("shell"):
        pass
    assert until(lambda: len(sleepers.pids()) == 3)
    assert watched.last is not None
    os.kill(watched.last.pid, signal.SIGKILL)
    with pytest.raises(AgentDied, match="ended with code -9"):
        list(heard)
    assert until(lambda: not sleepers.pids(), 2.0)


def test_ending_a_child_leaves_nothing(cradle: Cradle, office: Office) -> None:
    """After end() the process and everything it started are gone, and no descriptor is left."""
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names only
    child = cradle.start(office.scratch / "err")
    child.end()
    assert child.pid not in processes()
    extra = set(os.listdir("/proc/self/fd")) - before  # noqa: PTH208 - names only
    assert len(extra) <= (1 if isinstance(cradle, NurseryCradle) else 0)


def test_a_nursery_that_died_is_a_named_failure_and_is_started_again(
    nursery: NurseryCradle, office: Office
) -> None:
    """The job that meets it fails by name; the next one has a new nursery."""
    nursery.start(office.scratch / "err").end()
    assert nursery.process is not None
    os.kill(nursery.process.pid, signal.SIGKILL)
    nursery.process.wait(5)
    with pytest.raises(AgentDied, match="subagents cannot be started"):
        nursery.start(office.scratch / "err")
    nursery.start(office.scratch / "err").end()


OWNER = """
import sys, time
from pathlib import Path
from typing import Any
from harness_executor.subagents.cradle import NurseryCradle
nursery = NurseryCradle((), Path(sys.argv[1]))
children = [nursery.start(Path(sys.argv[1]) / "err") for _ in range(3)]
print(nursery.process.pid, *[child.pid for child in children], flush=True)
time.sleep(60)
"""


def test_nothing_of_a_nursery_outlives_its_owner(tmp_path: Path) -> None:
    """SIGKILL of the owner: the warm process and all its children are gone within two seconds."""
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    pids = [int(word) for word in owner.stdout.readline().split()]
    assert len(children_of({owner.pid})) >= 4
    owner.kill()
    owner.communicate()
    assert until(lambda: not processes() & set(pids), 2.0)


def _held(pid: int) -> list[str]:
    held = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            held.append(str(link.readlink()))
    return held


def _sockets(pid: int) -> list[str]:
    return [held for held in _held(pid) if held.startswith("socket:")]


def test_a_fork_has_no_state_of_another(nursery: NurseryCradle, office: Office) -> None:
    """A child holds its descriptors and the line to the keepers; nothing of its sisters or of the nursery."""
    first, second = nursery.start(office.scratch / "a"), nursery.start(office.scratch / "b")
    assert nursery.process is not None
    assert len(_sockets(nursery.process.pid)) == 2
    assert until(lambda: len(_sockets(second.pid)) == 1 and len(_held(second.pid)) < 8)
    assert until(lambda: _sockets(first.pid) == _sockets(second.pid))
    pipes = [{held for held in _held(child.pid) if held.startswith("pipe:")} for child in (first, second)]
    assert not pipes[0] & pipes[1]
    for child in (first, second):
        child.end()


def test_one_that_keeps_commands_and_dies_is_a_named_failure(nursery: NurseryCradle, office: Office) -> None:
    """A command that kills what keeps commands ends its own subagent; the next job meets a new one."""
    kill = f"sleep 600 & kill -9 {WORKER}; sleep 600"
    later = [call("shell", command=f"sleep {number}") for number in range(20)]
    with pytest.raises(AgentDied, match=r"ended with code -9|cannot be kept"):
        _work(nursery, office.job(call("shell", command=kill), *later, submit()))
    assert nursery.process is not None
    assert nursery.process.wait(5) == 0
    with pytest.raises(AgentDied, match="subagents cannot be started"):
        nursery.start(office.scratch / "err")
    assert _work(nursery, office.job(call("shell", command="true"), submit())) == DONE


def test_a_keeper_cannot_be_held(nursery: NurseryCradle, office: Office) -> None:
    """A command that stops its keeper does not stop it for long."""
    stop = "kill -STOP $PPID; echo stopped; exit 3"
    assert _work(nursery, office.job(call("shell", command=stop, seconds=20), submit())) == DONE
    assert "stopped" in (office.scratch / "job-shell.log").read_text()


def test_what_a_killed_keeper_leaves_is_ended(
    nursery: NurseryCradle, office: Office, sleepers: Sleepers
) -> None:
    """A command that kills its keeper gains nothing: its children are ended while the subagent works on."""
    leave = f"setsid sleep {sleepers.seconds} & sleep {sleepers.seconds} & sleep 0.3; kill -9 $PPID; sleep 9"
    again = call("shell", command=f"pgrep -f 'sleep {sleepers.seconds[:-1]}[0-9]'; echo left $?")
    assert _work(nursery, office.job(call("shell", command=leave), again, submit())) == DONE
    assert "left 1" in (office.scratch / "job-shell.log").read_text()


def test_closing_ends_what_is_left(nursery: NurseryCradle, office: Office, sleepers: Sleepers) -> None:
    """When a nursery is closed, no subagent and no command of one is left."""
    job = office.job(call("shell", command=sleepers.command))
    child = nursery.start(office.scratch / "err")
    child.send(json.dumps(asdict(job)).encode() + b"\n")
    child.send(b'{"type": "Granted", "call": 1}\n')
    assert until(lambda: len(sleepers.pids()) == 3)
    assert nursery.process is not None
    below = children_of({nursery.process.pid})
    nursery.close()
    assert not processes() & below
    assert not sleepers.pids()
    child.end()
