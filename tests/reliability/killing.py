"""Coordinators that are killed while their servers run, and a look at what each left."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness_executor.evidence.sockets import listeners, owned
from harness_executor.sandbox.keeper import children_of
from tests.conftest import commit_all, git
from tests.patience import Patience

WITHIN = 2.0
"""Seconds after which nothing may be left."""

APP = """
import os, signal, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class App(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/slow":
            time.sleep(30)
        self.send_response(200 if self.path in ("/", "/slow") else 404)
        self.end_headers()

    def log_message(self, *_):
        pass


if os.fork() == 0:
    os.setsid()
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    while True:
        if os.fork():
            os._exit(0)
        os.setsid()
        open("/dev/shm/left", "a").close()
        time.sleep(0.02)
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), App).serve_forever()
"""
"""A server that hides a child which is deaf and begins anew all the time."""

SCENARIOS = """
scenarios:
  - name: slow
    why: add GET /slow
    steps: [{request: {path: /slow}, expect: {status: 201}}]
"""


@dataclass
class Run:
    """A coordinator at work, in a home of its own."""

    folder: Path
    process: "subprocess.Popen[bytes]"
    namespaces: dict[str, int] = field(default_factory=dict)
    """Each by its name, and held open, so that its number is not given to another."""
    below: dict[int, str] = field(default_factory=dict)

    @property
    def tmp(self) -> Path:
        """Where its temporary files would be."""
        return self.folder / "tmp"

    def wait_for_servers(self, count: int) -> None:
        """Wait until so many of its servers are ready."""
        end, said = time.monotonic() + 60, 0
        while said < count:
            assert self.process.poll() is None, (self.folder / "said").read_text()
            assert time.monotonic() < end, (self.folder / "said").read_text()
            time.sleep(0.005)
            said = (self.folder / "said").read_text().count(" ready on port ")

    def kill(self) -> None:
        """Remember everything it has, and kill it."""
        pids = children_of({self.process.pid})
        self.below = {pid: _born(pid) for pid in pids}
        ours = set(_namespaces(os.getpid()))
        for name, path in (space for pid in pids for space in _namespaces(pid).items()):
            if name not in ours | self.namespaces.keys():
                with suppress(OSError):
                    self.namespaces[name] = os.open(path, os.O_RDONLY)
        on_this_machine = {one.inode for one in listeners()} & owned(pids)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert not on_this_machine, "a server took a port of this machine"

    def left(self) -> list[str]:
        """What is still there: processes, namespaces with their mounts, folders."""
        alive = [
            f"process {pid} {_words(pid)}" for pid, born in self.below.items() if born and _born(pid) == born
        ]
        spaces = [
            f"namespace {space} of {pid} {_words(pid)}"
            for pid, space in _spaces()
            if space in self.namespaces
        ]
        mounts = [f"mount in {pid} {_words(pid)}" for pid in _pids() if self._is_mounted(pid)]
        work = self.folder / "home" / ".cache" / "harness-executor"
        folders = [str(path) for path in (*work.glob("*/*"), *self.tmp.iterdir())]
        return [*alive, *spaces, *mounts, *folders]

    def forget(self) -> None:
        """Let go of its namespaces."""
        while self.namespaces:
            os.close(self.namespaces.popitem()[1])

    def _is_mounted(self, pid: int) -> bool:
        with suppress(OSError):
            return str(self.folder) in Path(f"/proc/{pid}/mountinfo").read_text()
        return False


def begin(folder: Path) -> Run:
    """A verification of a small change, in its own process."""
    repo = folder / "repo"
    for place in (repo, folder / "home", folder / "tmp"):
        place.mkdir(parents=True)
    (repo / "app.py").write_text(APP)
    (folder / "scenarios.yaml").write_text(SCENARIOS)
    git(repo, "init", "--quiet")
    commit_all(repo, "begin")
    (repo / "more.txt").write_text("more\n")
    words = ("verify", "--repo", str(repo), "--base", "HEAD", "--start", "python3 app.py {port}")
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "harness_executor", *words, "--scenarios", str(folder / "scenarios.yaml")],
            env={"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp")},
            stdout=said,
            stderr=said,
            cwd=folder,
        )
    return Run(folder, process)


def kill_one(folder: Path, seed: int) -> list[str]:
    """Begin, kill at a moment that the seed draws, and say what is left after the time."""
    chance = random.Random(seed)
    run = begin(folder)
    run.wait_for_servers(chance.randint(1, 4))
    time.sleep(chance.uniform(0, 0.3))
    run.kill()
    patience = Patience()
    while (left := run.left()) and patience.passed < WITHIN:
        patience.nap()
    run.forget()
    return left


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _spaces() -> list[tuple[int, str]]:
    return [(pid, space) for pid in _pids() if _born(pid) for space in _namespaces(pid)]


def _namespaces(pid: int) -> dict[str, Path]:
    found = {}
    for kind in ("pid", "net", "mnt", "ipc", "uts", "user"):
        with suppress(OSError):
            path = Path(f"/proc/{pid}/ns/{kind}")
            found[str(path.readlink())] = path
    return found


def _words(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")[:120]
    return ""


def _born(pid: int) -> str:
    """When a process began, if it still lives; so that none is mistaken for another of its number."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return "" if fields[0] in "ZX" else fields[19]
    return ""
