"""Nothing of a run outlives its coordinator, whatever the commands of its subagents do."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from harness_executor.errors import AgentDied
from harness_executor.sandbox.keeper import children_of
from harness_executor.subagents.cradle import NurseryCradle
from harness_executor.subagents.jobs import Answering, Job, Role
from tests.patience import Patience

ROUNDS, PARTS = 100, 4
WITHIN = 2.0
"""Seconds after which nothing may be left."""

BEGIN = """
import os, signal, sys, time
keeper = os.getppid()
def up():
    open(f"up-{sys.argv[1]}", "w").close()
def went():
    return os.path.exists("go")
"""

NASTY = {
    "hides": """
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                up()
                time.sleep(600)
            os._exit(0)
        time.sleep(600)
    """,
    "is deaf": """
        for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(sign, signal.SIG_IGN)
        up()
        os.closerange(0, 256)
        os.fork()
        time.sleep(600)
    """,
    "kills its keeper": """
        if os.fork():
            time.sleep(600)
        os.setsid()
        up()
        while not went():
            time.sleep(0.001)
        os.kill(keeper, signal.SIGKILL)
        os.fork()
        time.sleep(600)
    """,
    "comes again": """
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        if os.fork() == 0:
            while True:
                if os.fork():
                    os._exit(0)
                os.setsid()
                time.sleep(0.002)
        up()
        while True:
            child = os.fork()
            if child == 0:
                time.sleep(0.02)
                os._exit(0)
            time.sleep(0.01)
    """,
    "stops everyone": """
        server = int(open(f"/proc/{keeper}/stat").read().rsplit(")", 1)[1].split()[1])
        if os.fork() == 0:
            while True:
                os.kill(keeper, signal.SIGSTOP)
                os.kill(server, signal.SIGSTOP)
                time.sleep(0.005)
        up()
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(600)
    """,
}
"""What a command does so that it stays; each calls up() once it is at it."""

OWNER = """
import json, sys, time
from pathlib import Path
from harness_executor.subagents.cradle import NurseryCradle

folder, jobs = Path(sys.argv[1]), json.loads(sys.argv[2])
nursery = NurseryCradle((), folder)
for number, job in enumerate(jobs):
    child = nursery.start(folder / f"err{number}")
    for message in (job, {"type": "Granted", "call": 1}):
        child.send(json.dumps(message).encode() + b"\\n")
time.sleep(600)
"""
"""A coordinator in small: it has five subagents at work, with a nursery as the real one has."""


@dataclass(frozen=True)
class Lair:
    """A folder for one round, whose path every command carries as its home."""

    root: Path

    @property
    def tree(self) -> Path:
        """Where the commands run."""
        return self.root / "tree"

    def job(self, name: str, command: str) -> Job:
        """A job whose model runs one command."""
        scratch = self.root / name.replace(" ", "-")
        scratch.mkdir()
        replies = [{"calls": [{"name": "shell", "arguments": {"command": command, "seconds": 600}}]}]
        script = scratch / "script.json"
        script.write_text(json.dumps({Role.EXECUTOR.value: [{"replies": replies}]}))
        return Job(
            id="job",
            role=Role.EXECUTOR,
            answering=Answering.WORK,
            model=f"scripted:{script}",
            prompt="stay",
            root=str(self.tree),
            scratch=str(scratch),
            may_write=True,
        )

    def nasty(self) -> list[dict[str, Any]]:
        """A job for each way to stay."""
        jobs = []
        for number, (name, body) in enumerate(NASTY.items()):
            lines = body.strip("\n").splitlines()
            margin = len(lines[0]) - len(lines[0].lstrip())
            program = self.root / f"nasty{number}.py"
            program.write_text(BEGIN + "\n".join(line[margin:] for line in lines) + "\n")
            run = f"exec '{sys.executable}' -I -S '{program}' {number}"
            jobs.append(asdict(self.job(name, run)))
        return jobs

    def is_up(self) -> bool:
        """Are all commands at it?"""
        return all((self.tree / f"up-{number}").exists() for number in range(len(NASTY)))

    def commands(self) -> set[int]:
        """Every process that has this folder as its home."""
        wanted = b"HOME=" + os.fsencode(self.root)
        found = set()
        for process in Path("/proc").iterdir():
            with suppress(OSError):
                if process.name.isdigit() and wanted in (process / "environ").read_bytes().split(b"\0"):
                    found.add(int(process.name))
        return found


@pytest.fixture
def lair(tmp_path: Path) -> Iterator[Lair]:
    """A folder; what still has it as its home at the end is ended, so that no failure spreads."""
    with _lair(tmp_path) as lair:
        yield lair


@contextmanager
def _lair(folder: Path) -> Iterator[Lair]:
    lair = Lair(folder / uuid.uuid4().hex)
    lair.tree.mkdir(parents=True)
    try:
        yield lair
    finally:
        _end_all(lair)


def _end_all(lair: Lair) -> None:
    """Kill until nothing is left, also what begins anew when it is killed."""
    end = time.monotonic() + 20
    while (left := lair.commands()) and time.monotonic() < end:
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _born(pid: int) -> str:
    """When a process began, if it still lives; so that none is mistaken for another of its number."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def _wait(lair: Lair, owner: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 60
    while not lair.is_up():
        assert owner.poll() is None, "the coordinator ended by itself"
        assert time.monotonic() < end, [path.read_text() for path in lair.root.glob("err*")]
        time.sleep(0.01)


def _named(pids: set[int]) -> list[str]:
    """Processes by their state, parent and words."""
    named = []
    for pid in sorted(pids):
        with suppress(OSError):
            state, parent = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:2]
            words = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
            named.append(f"{pid} {state} below {parent}: {words}")
    return named


def _left(lair: Lair, below: dict[int, str]) -> set[int]:
    return lair.commands() | {pid for pid, born in below.items() if born and _born(pid) == born}


def _survivors(lair: Lair) -> list[str]:
    """Who is left after the time, when a coordinator with five nasty subagents is killed."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(lair.root), json.dumps(lair.nasty())],
        env={**os.environ, "HOME": str(lair.root)},
    )
    _wait(lair, owner)
    below = {pid: _born(pid) for pid in children_of({owner.pid})}
    assert len(below) > 15
    (lair.tree / "go").touch()
    owner.kill()
    patience = Patience(time.monotonic())
    owner.wait()
    while (left := _left(lair, below)) and patience.passed < WITHIN:
        patience.nap()
    return _named(left)


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_outlives_a_killed_coordinator(tmp_path: Path, part: int) -> None:
    """Commands that hide, are deaf, kill, respawn or stop their guards go with a killed coordinator."""
    for _ in range(ROUNDS // PARTS):
        with _lair(tmp_path) as lair:
            assert _survivors(lair) == []


ABOVE = "$(cut -d' ' -f4 /proc/{}/stat)"
"""In a command: the parent of a process."""
SERVER = ABOVE.format("$PPID")
NURSERY = ABOVE.format(SERVER)


@pytest.mark.parametrize("victim", [SERVER, NURSERY], ids=["what keeps commands", "the nursery"])
def test_a_command_that_kills_its_guards_leaves_nothing(
    lair: Lair, monkeypatch: pytest.MonkeyPatch, victim: str
) -> None:
    """Whichever guard a command kills, another one ends what it left, and the coordinator notices."""
    monkeypatch.setenv("HOME", str(lair.root))
    hidden = f"'{sys.executable}' -I -S -c 'import os, time; os.fork() or os.setsid(); time.sleep(600)' &"
    nursery = NurseryCradle((), lair.root)
    child = nursery.start(lair.root / "err")
    assert nursery.process is not None
    job = lair.job("killer", f"{hidden} sleep 0.2; kill -9 {victim}; sleep 600")
    child.send(json.dumps(asdict(job)).encode() + b'\n{"type": "Granted", "call": 1}\n')
    end = time.monotonic() + 30
    while nursery.process.wait(0.05) is None:
        assert time.monotonic() < end, "the guard was not killed"
    patience = Patience(time.monotonic())
    while (left := lair.commands() - {os.getpid()}) and patience.passed < WITHIN:
        patience.nap()
    assert _named(left) == []
    child.end()
    with pytest.raises(AgentDied):
        nursery.start(lair.root / "err")
    nursery.close()
