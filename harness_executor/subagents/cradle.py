"""Where a subagent's process comes from: a new interpreter, or a fork of a warm one."""

import array
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness_executor.config import KEY_NAMES, NO_PLUGINS, model_environment
from harness_executor.errors import AgentDied
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.process import Started, start_speaking, start_with_socket
from harness_executor.tables import Service

_MODULE = "harness_executor.subagents"
_SWEEP = 5.0
"""Seconds a warm process has to end what is left of its subagents, before it is killed."""


class Child(Protocol):
    """A subagent's process, spoken to over two pipes."""

    @property
    def pid(self) -> int:
        """Its process id."""
        ...

    def send(self, line: bytes) -> None:
        """Say something to it."""
        ...

    def hear(self, seconds: float) -> bytes | None:
        """What it says next: empty when it will say no more, nothing when it was silent that long."""
        ...

    def exit_code(self, seconds: float) -> int | None:
        """How it ended, if it ends within this time."""
        ...

    def end(self) -> None:
        """Make sure that it is gone."""
        ...


class Cradle(Protocol):
    """Something that starts subagents."""

    def start(self, stderr: Path) -> Child:
        """A process that waits for its job."""
        ...


@dataclass
class FreshChild:
    """A child with an interpreter of its own."""

    process: Started

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def send(self, line: bytes) -> None:
        """Say something to it."""
        self.process.say(line)

    def hear(self, seconds: float) -> bytes | None:
        """What it says next."""
        return _hear(self.process.output, seconds)

    def exit_code(self, seconds: float) -> int | None:
        """How it ended, if it ends within this time."""
        return self.process.wait(seconds)

    def end(self) -> None:
        """Make sure that it is gone."""
        self.process.end()


@frozen
class FreshCradle:
    """A new interpreter for every subagent: simple, and more than a second slower with a real SDK."""

    providers: tuple[str, ...] = tuple(KEY_NAMES)
    """Whose keys it is given."""

    def start(self, stderr: Path) -> Child:
        """A process that waits for its job."""
        argv = [sys.executable, "-P", "-m", f"{_MODULE}.worker"]
        return FreshChild(start_speaking(argv, _environment(self.providers), stderr))


@dataclass
class ForkedChild:
    """A child of the nursery, known by its pipes and a descriptor of the process itself."""

    pid: int
    hand: int
    output: int
    fate: int
    process: int | None
    code: int | None = field(default=None)

    def send(self, line: bytes) -> None:
        """Say something to it."""
        with suppress(BrokenPipeError):
            view = memoryview(line)
            while view:
                view = view[os.write(self.hand, view) :]

    def hear(self, seconds: float) -> bytes | None:
        """What it says next."""
        return _hear(self.output, seconds)

    def exit_code(self, seconds: float) -> int | None:
        """How it ended, if it ends within this time."""
        if self.code is None:
            said = _hear(self.fate, seconds)
            self.code = int(said) if said and said.strip() else None
        return self.code

    def end(self) -> None:
        """Make sure that it is gone."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.process, signal.SIGKILL)
        self.exit_code(5.0)
        for descriptor in (self.hand, self.output, self.fate, self.process):
            if descriptor is not None:
                with suppress(OSError):
                    os.close(descriptor)


@dataclass
class NurseryCradle:
    """Forks from one warm process, which is started on first use or ahead of it."""

    providers: tuple[str, ...]
    """Whose keys it is given, and what it loads."""
    scratch: Path
    services: Mapping[str, Service] = field(default_factory=dict)
    """Services the user named; of these, what they speak is loaded."""
    control: socket.socket | None = None
    process: Started | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    """One request is answered before the next is made, whichever thread makes it."""
    used: bool = False
    """Was it ever asked? One that was not has nothing to end."""

    def warm_up(self) -> None:
        """Start the warm process and go on; it loads its SDKs meanwhile."""
        if self.control is not None:
            return
        self.scratch.mkdir(parents=True, exist_ok=True)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        loaded = [self.services[name].api if name in self.services else name for name in self.providers]
        argv = [sys.executable, "-P", "-m", f"{_MODULE}.nursery", *loaded]
        log = self.scratch / "nursery.err"
        with theirs:
            self.process = start_with_socket(argv, _environment(self.providers), theirs, log)
        self.control = ours

    def start(self, stderr: Path) -> Child:
        """A process that waits for its job."""
        self.warm_up()
        job_in, hand = os.pipe()
        output, messages = os.pipe()
        fate, fate_in = os.pipe()
        errors = os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        given = (job_in, messages, errors, fate_in)
        try:
            with self.lock:
                pid = self._ask(given)
        finally:
            for descriptor in given:
                os.close(descriptor)
        return ForkedChild(pid, hand, output, fate, _process(pid))

    def close(self) -> None:
        """Let the warm process, and whatever it still has, end."""
        if self.control is not None:
            self.control.close()
            self.control = None
        if self.process is not None:
            self.process.wait(_SWEEP if self.used else 0.0)
            self.process.end()
            self.process = None

    def _ask(self, descriptors: tuple[int, ...]) -> int:
        assert self.control is not None  # noqa: S101 - warm_up made it
        try:
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
            self.control.sendmsg([b"fork"], [rights])
            self.used = True
            said = self.control.recv(64)
        except OSError as error:
            raise self._gone(str(error)) from error
        if not said:
            raise self._gone("it ended")
        return int(said)

    def _gone(self, why: str) -> AgentDied:
        self.close()
        log = self.scratch / "nursery.err"
        said = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
        return AgentDied(
            f"subagents cannot be started: {said[-1] if said else why}",
            hint=f"see {log}; `harness resume` tries again",
        )


def _environment(providers: tuple[str, ...]) -> dict[str, str]:
    return {**model_environment(providers), **NO_PLUGINS, "PYTHONSAFEPATH": "1"}


def _hear(descriptor: int, seconds: float) -> bytes | None:
    if not select.select([descriptor], [], [], max(0.0, seconds))[0]:
        return None
    return os.read(descriptor, 65536)


def _process(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None
