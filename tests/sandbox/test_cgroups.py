"""Groups of processes: the limits they hold on this machine, and where they are made on others."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness_executor.sandbox.cgroups import Cgroup, cgroup_reason, sweep
from harness_executor.sandbox.limits import Limits
from tests.patience import until
from tests.sandbox.hunger import BOMB, HOG, bare, boxed, ended, start

SMALL = Limits(memory=64 * 1024**2, processes=40)
Make = Callable[[], Cgroup]


@pytest.fixture
def make() -> Iterator[Make]:
    """Make groups on this machine; what is left of them at the end is ended and removed."""
    made: list[Cgroup] = []

    def new() -> Cgroup:
        group = Cgroup.make("a test", SMALL)
        assert group, f"root needs cgroups here: {cgroup_reason()}"
        made.append(group)
        return group

    yield new
    for group in made:
        for pid in _inside(group):
            os.kill(pid, signal.SIGKILL)
        group.remove()


def _inside(group: Cgroup) -> list[int]:
    procs = group.pids / "cgroup.procs"
    return [int(pid) for pid in procs.read_text().split()] if procs.exists() else []


def _sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "600"])


def test_stops_a_fork_bomb_of_root(make: Make) -> None:
    """Without a group there are as many processes as are wanted; in one, no more than its limit."""
    assert ended(start(bare(BOMB))) == (0, "200")
    group, process = make(), start(bare(BOMB))
    group.take(process.pid)
    assert not group.refused_processes()
    assert ended(process) == (0, "39")
    assert group.refused_processes()
    assert group.remove()


def test_stops_a_fork_bomb_in_a_box(make: Make) -> None:
    """A box that was taken in before it starts holds the bomb, itself included."""
    group, process = make(), start(["sh", "-c", 'read word; exec "$@"', "sh", *boxed(*bare(BOMB))])
    group.take(process.pid)
    code, children = ended(process)
    assert code == 0
    assert 35 <= int(children) < 40
    assert group.remove()


@pytest.mark.parametrize("box", [False, True])
def test_knows_a_process_that_killed_for_memory(make: Make, box: bool) -> None:
    """300 MB are had without a group; in one with less the process is killed, and that is known."""
    assert ended(start(bare(HOG))) == (0, "300000000")
    words = boxed(*bare(HOG)) if box else bare(HOG)
    group, process = make(), start(["sh", "-c", 'read word; exec "$@"', "sh", *words])
    group.take(process.pid)
    assert not group.killed_for_memory()
    assert ended(process) == (128 + signal.SIGKILL if box else -signal.SIGKILL, "")
    assert group.killed_for_memory()
    assert group.peak
    assert SMALL.memory // 2 < group.peak <= SMALL.memory
    assert group.remove()


def test_blames_no_memory_for_another_end(make: Make) -> None:
    """A process that was killed by somebody, or ended by itself, is not taken for one without memory."""
    group, process = make(), _sleeper()
    group.take(process.pid)
    process.kill()
    assert process.wait(10) == -signal.SIGKILL
    assert not group.killed_for_memory()
    assert group.remove()


def test_waits_for_the_last_process_to_die(make: Make) -> None:
    """A group is removed that is still in use when its removal begins."""
    group, process = make(), _sleeper()
    group.take(process.pid)
    later = threading.Timer(0.3, process.kill)
    later.start()
    assert group.remove()
    assert not group.memory.exists()
    assert not group.pids.exists()
    assert process.wait(10) == -signal.SIGKILL
    assert group.remove()


def test_does_not_wait_for_ever(make: Make) -> None:
    """A group with a process that goes on is not removed, and says so."""
    group, process = make(), _sleeper()
    group.take(process.pid)
    assert not group.remove()
    process.kill()
    process.wait(10)
    assert group.remove()


def _left_by_a_dead_run(extra: str = "") -> tuple[Path, Path]:
    script = (
        "import os\nfrom harness_executor.sandbox.cgroups import Cgroup\n"
        "from harness_executor.sandbox.limits import Limits\n"
        f"group = Cgroup.make('dead', Limits())\n{extra}\nprint(group.memory, group.pids)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    memory, pids = map(Path, done.stdout.split())
    return memory, pids


def test_sweeps_what_dead_runs_left(make: Make) -> None:
    """A group whose maker is gone is removed; one of a maker that lives stays, though it is empty."""
    ours, left = make(), _left_by_a_dead_run()
    sweep()  # another run of these tests may have done so already
    assert not any(folder.exists() for folder in left)
    assert ours.memory.exists()
    assert ours.pids.exists()


def test_sweeps_no_group_in_use() -> None:
    """A group in which a process goes on is left until it ends, even if its maker is gone."""
    process = _sleeper()
    left = _left_by_a_dead_run(f"group.take({process.pid})")
    sweep()
    assert all(folder.exists() for folder in left)
    process.kill()
    process.wait(10)
    assert until(lambda: sweep() >= 0 and not any(folder.exists() for folder in left))


def test_sweeps_no_group_of_another_namespace(make: Make) -> None:
    """The number of a process says nothing in another namespace, so its group is left alone."""
    group = make()
    foreign = group.pids.with_name("harness-1-1-1-test-0")
    foreign.mkdir()
    sweep()
    assert foreign.exists()
    foreign.rmdir()


class Version2:
    """A machine with cgroups of version 2, as files: this one cannot hold memory in them."""

    def __init__(self, folder: Path, path: str, root: str = "/") -> None:
        self.proc, self.top = folder / "proc", folder / "cgroup"
        (self.proc / "self").mkdir(parents=True)
        self.top.mkdir()
        (self.proc / "self/cgroup").write_text(f"1:name=systemd:/\n0::{path}\n")
        mounts = f"30 20 0:26 {root} {self.top} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
        (self.proc / "self/mountinfo").write_text(f"20 1 8:1 / / rw - ext4 /dev/root rw\n{mounts}")

    def group(self, path: str, *, handed: str = "", ours: bool = True, **limits: str) -> Path:
        """Have a group, with what it hands down and whether we may move processes in it."""
        folder = self.top / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.subtree_control").write_text(f"{handed}\n")
        if ours:
            (folder / "cgroup.procs").write_text("")
        for name, value in limits.items():
            (folder / name.replace("_", ".")).write_text(f"{value}\n")
        return folder


def test_makes_a_group_of_version_2_in_the_nearest_that_is_ours(tmp_path: Path) -> None:
    """Not in our own, which may hand nothing down, nor further up than needed."""
    machine = Version2(tmp_path, "/user.slice/app.slice/run.scope")
    machine.group("", handed="cpu memory pids")
    machine.group("user.slice", handed="cpu memory pids")
    near = machine.group("user.slice/app.slice", handed="memory pids")
    machine.group("user.slice/app.slice/run.scope")
    group = Cgroup.make("x", SMALL, machine.proc)
    assert group
    assert group.memory == group.pids
    assert group.memory.parent == near
    assert (group.memory / "memory.max").read_text() == str(SMALL.memory)
    assert (group.memory / "pids.max").read_text() == "40"


def test_finds_the_group_under_a_mount_of_a_part(tmp_path: Path) -> None:
    """In a container the mount begins at a group, and paths are told from the machine's."""
    machine = Version2(tmp_path, "/docker/abc/own", root="/docker/abc")
    own = machine.group("own", handed="memory pids")
    group = Cgroup.make("x", SMALL, machine.proc)
    assert group
    assert group.memory.parent == own


def test_keeps_the_limits_of_a_group_that_is_left(tmp_path: Path) -> None:
    """A process that goes to a group further up does not get rid of limits it had."""
    machine = Version2(tmp_path, "/a/b")
    machine.group("", handed="memory pids")
    machine.group("a", memory_max="1000000", pids_max="max")
    machine.group("a/b", memory_max="max", pids_max="7")
    group = Cgroup.make("x", SMALL, machine.proc)
    assert group
    assert (group.memory / "memory.max").read_text() == "1000000"
    assert (group.memory / "pids.max").read_text() == "7"


def test_reads_what_version_2_counts(tmp_path: Path) -> None:
    """A kill for memory, a refused process and the peak are read from the files of version 2."""
    machine = Version2(tmp_path, "/")
    machine.group("", handed="memory pids")
    group = Cgroup.make("x", SMALL, machine.proc)
    assert group
    (group.memory / "memory.events").write_text(
        "low 0\nhigh 0\nmax 31\noom 1\noom_kill 0\noom_group_kill 0\n"
    )
    (group.memory / "pids.events").write_text("max 0\n")
    assert (group.peak, group.killed_for_memory(), group.refused_processes()) == (None, 0, 0)
    (group.memory / "memory.events").write_text(
        "low 0\nhigh 0\nmax 31\noom 1\noom_kill 1\noom_group_kill 0\n"
    )
    (group.memory / "pids.events").write_text("max 3\n")
    (group.memory / "memory.peak").write_text("12345\n")
    assert (group.peak, group.killed_for_memory(), group.refused_processes()) == (12345, 1, 3)


@pytest.mark.parametrize(("handed", "ours"), [("cpu memory", True), ("memory pids", False), ("", True)])
def test_says_why_there_is_no_group(tmp_path: Path, handed: str, ours: bool) -> None:
    """A group that hands too little down, or is not ours, is not used, and the reason names it."""
    machine = Version2(tmp_path, "/own")
    own = machine.group("own", handed=handed, ours=ours)
    assert Cgroup.make("x", SMALL, machine.proc) is None
    assert cgroup_reason(machine.proc) == (
        f"no group from {own} up is ours to write and hands down memory and pids"
    )
    assert sweep(machine.proc) == 0


def test_says_that_nothing_is_mounted(tmp_path: Path) -> None:
    """A machine that shows no group, or none that is mounted, has a reason too."""
    machine = Version2(tmp_path, "/own", root="/elsewhere")
    assert cgroup_reason(machine.proc) == "the group /own of version 2 is not mounted"
    (machine.proc / "self/cgroup").write_text("4:memory:/a\n8:pids:/\n")
    assert cgroup_reason(machine.proc) == "the group /a of memory is not mounted"
    (machine.proc / "self/cgroup").write_text("")
    assert "names no group" in cgroup_reason(machine.proc)
    assert "No such file" in cgroup_reason(tmp_path)


def test_leaves_nothing_where_a_limit_cannot_be_set(make: Make) -> None:
    """A group whose limit the kernel does not take is no group, and none is left behind."""
    home = make().memory.parent
    before = set(home.glob("harness-*-unbounded-*"))
    assert Cgroup.make("unbounded", Limits(memory=-5)) is None
    assert set(home.glob("harness-*-unbounded-*")) == before


def test_counts_swap_as_memory(make: Make) -> None:
    """Where the kernel bounds swap, none is had beyond the memory of the group."""
    group = make()
    bound = group.memory / group.files.swap
    beyond = 0 if group.files.is_swap_by_itself else SMALL.memory
    assert not bound.exists() or int(bound.read_text()) == beyond


def test_tells_an_ordinary_user_what_is_not_theirs() -> None:
    """One who may not make a group gets none, and a reason that names the place."""
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(12345, 12345, 12345)
            os.setresuid(12345, 12345, 12345)
        os.write(told, f"{Cgroup.make('x', SMALL)} {cgroup_reason()}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    said = os.read(heard, 4096).decode()
    os.close(heard)
    os.close(told)
    assert said.startswith("None ")
    assert "/sys/fs/cgroup" in said


def test_has_a_group_or_a_reason() -> None:
    """On any machine one of both is had, and asking leaves nothing."""
    group = Cgroup.make("either", SMALL)
    assert (group is None) == bool(cgroup_reason())
    assert group is None or group.remove()
