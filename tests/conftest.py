"""What every test has: a home of its own, no key, and no way to the network beyond loopback."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from harness_executor.demo.sample import make_sample
from harness_executor.evidence import sockets
from harness_executor.providers.loopback import LoopbackModel
from tests.canary import CANARY, leaks

collect_ignore_glob = ["apps/*/base", "apps/*/feature"]
"""Tests of the sample projects are theirs."""

# properties are checked without a deadline, as machines may be busy, and by the same draws each time
hypothesis_settings.register_profile(
    "busy", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("busy")

SECRETS = ("ANTHROPIC", "OPENAI", "OPENROUTER", "HARNESS", "AWS", "GOOGLE", "CLOUD_ML", "AZURE", "GITHUB")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh HOME, and no key of the developer's in sight."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(SECRETS) or name.startswith("XDG_"):
            monkeypatch.delenv(name)
        if name.lower() in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("SOMEBODYS_API_KEY", CANARY)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nobody serves it: no child leaves this machine
    return folder


@pytest.fixture(autouse=True, scope="session")
def loopback_only() -> Iterator[None]:
    """A connection to anything but this machine fails the test."""
    patch = pytest.MonkeyPatch()
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if host and host not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to reach {address}")
        connect(self, address)

    patch.setattr(socket.socket, "connect", guarded)
    yield
    patch.undo()


@pytest.fixture(autouse=True, scope="session")
def own_ports(worker_id: str) -> Iterator[None]:
    """Tests that run at the same time draw different ports, so that none takes what another was given."""
    number = int(worker_id.removeprefix("gw")) if worker_id != "master" else 0
    patch = pytest.MonkeyPatch()
    patch.setattr(sockets, "_PORTS", sockets._PORTS[number % 4 :: 4])
    yield
    patch.undo()


@pytest.fixture(autouse=True, scope="session")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Everything that is sent to a model on loopback is kept, to be searched for the key at the end."""
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("prompts")
    leave = LoopbackModel.__exit__

    def leaving(self: LoopbackModel, *error: object) -> None:
        leave(self, *error)
        with (folder / "sent.txt").open("ab") as kept:
            kept.write(b"\n".join([*self.bodies, b""]))

    patch.setattr(LoopbackModel, "__exit__", leaving)
    yield
    patch.undo()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run when the key appears anywhere in what the tests left."""
    if hasattr(session.config, "workerinput"):
        return
    factory: pytest.TempPathFactory = session.config._tmp_path_factory  # type: ignore[attr-defined]  # the only way to it
    found = sorted(leaks(factory.getbasetemp()))
    if found:
        sys.stderr.write("\nthe key of the tests was left in:\n" + "".join(f"  {line}\n" for line in found))
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The sample to-do repository, with one commit."""
    return make_sample(tmp_path / "todo-api")


@dataclass(frozen=True)
class Ran:
    """How a command of ours ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


Cli = Callable[..., Ran]


@pytest.fixture
def cli() -> Cli:
    """Run `harness …` as a user would, in a process of its own."""

    def run(*words: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "harness_executor", *map(str, words)],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


def git(repo: Path, *words: str) -> str:
    """Plain git, as a user has it."""
    done = subprocess.run(
        ["git", "-C", str(repo), *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"},
    )
    return done.stdout.strip()


def commit_all(repo: Path, message: str) -> str:
    """Commit everything in the working tree; gives the commit."""
    git(repo, "add", "--all")
    git(repo, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", message)
    return git(repo, "rev-parse", "HEAD")
