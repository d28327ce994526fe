"""Where a subagent's process comes from: a new interpreter, or a fork of a warm one."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness_executor.clock import SystemClock
from harness_executor.errors import AgentDied
from harness_executor.sandbox.keeper import children_of
from harness_executor.subagents.cradle import Cradle, FreshCradle, NurseryCradle
from harness_executor.subagents.jobs import Beat, Spent
from harness_executor.subagents.replies import Result, WorkReply
from harness_executor.subagents.spawn import Agents
from tests.subagents.conftest import WORKER, Office, call, processes, submit, until


@pytest.fixture(params=["fresh", "nursery"])
def cradle(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cradle]:
    """Both ways to start a subagent, under one contract."""
    if request.param == "fresh":
        yield FreshCradle()
        return
    nursery = NurseryCradle((), tmp_path / "nursery")
    yield nursery
    nursery.close()


def _work(cradle: Cradle, office: Office, *replies: Mapping[str, Any]) -> list[Beat | Spent | Result]:
    return list(Agents(SystemClock(), cradle).work(office.job(*replies)))


def test_a_job_is_done_by_a_process_of_its_own(cradle: Cradle, office: Office) -> None:
    """The result comes back, from another process than ours."""
    child = cradle.start(office.scratch / "err")
    assert child.pid != os.getpid()
    child.end()
    assert _work(cradle, office, submit())[-1] == WorkReply("success", "added the route")


def test_many_jobs_one_after_another(cradle: Cradle, office: Office) -> None:
    """A second and third job meet nothing of the first."""
    for _ in range(3):
        assert _work(cradle, office, call("shell", command="true"), submit())[-1] == WorkReply(
            "success", "added the route"
        )


def test_a_killed_child_is_known_by_its_exit_code(cradle: Cradle, office: Office) -> None:
    """A child that dies in its work is told with the signal that killed it."""
    with pytest.raises(AgentDied, match="ended with code -9"):
        _work(cradle, office, call("shell", command=f"kill -9 {WORKER}"), submit())


def test_ending_a_child_leaves_nothing(cradle: Cradle, office: Office) -> None:
    """After end() the process and everything it started are gone, and no descriptor is left."""
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names only
    child = cradle.start(office.scratch / "err")
    child.end()
    assert child.pid not in processes()
    extra = set(os.listdir("/proc/self/fd")) - before  # noqa: PTH208 - names only
    assert len(extra) <= (1 if isinstance(cradle, NurseryCradle) else 0)


def test_a_nursery_that_died_is_a_named_failure_and_is_started_again(tmp_path: Path, office: Office) -> None:
    """The job that meets it fails by name; the next one has a new nursery."""
    nursery = NurseryCradle((), tmp_path / "nursery")
    nursery.start(office.scratch / "err").end()
    assert nursery.process is not None
    os.kill(nursery.process.pid, signal.SIGKILL)
    nursery.process.wait(5)
    with pytest.raises(AgentDied, match="subagents cannot be started"):
        nursery.start(office.scratch / "err")
    nursery.start(office.scratch / "err").end()
    nursery.close()


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


def test_a_fork_has_no_key_of_another_provider_and_no_state(tmp_path: Path, office: Office) -> None:
    """A child holds its four descriptors and nothing of its sisters or of the nursery's socket."""
    nursery = NurseryCradle((), tmp_path / "nursery")
    first, second = nursery.start(office.scratch / "a"), nursery.start(office.scratch / "b")
    assert until(lambda: not [held for held in _held(second.pid) if held.startswith("socket:")])
    for child in (first, second):
        child.end()
    nursery.close()
