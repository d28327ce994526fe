"""A server under test: started by us, proved to be ours, and proved gone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from harness_executor import faults
from harness_executor.clock import Clock
from harness_executor.errors import ForeignListener, PortTaken, ServerExited, ServerNotReady
from harness_executor.evidence.dialing import Dialed
from harness_executor.evidence.exchange import hang_up_after
from harness_executor.evidence.sockets import Listener, free_port, listeners, owned
from harness_executor.sandbox.base import Box, Command, Room, Running, Sandbox
from harness_executor.workspace.project import Readiness, Start

GRACE = 5.0
SETUP_SECONDS = 900.0
_POLL = 0.02
_NOT_FOUND = 127
"""What a shell ends with that finds no such program."""
_BY_HAND = "try the start command by hand; set --start or startup.command in harness/environment.json"
_NOT_SHOWN = (
    "a box has the programs of the system, of your PATH, and of the project's .venv, venv and node_modules; "
    "`[sandbox] read` in your own config.toml shows more folders"
)
_LOOKS = 5
"""How often a socket is looked for: while a server forks, it may pass to a process that was not seen yet."""


@dataclass(frozen=True)
class Stand:
    """Where a server is to stand."""

    room: Room
    log: Path
    """Where its output goes."""
    port: int = 0
    """The port it gets in a network of its own; 0 for any that is free."""


@dataclass
class Server:
    """One running server."""

    start: Start
    port: int
    box: Box
    running: Running
    log: Path
    clock: Clock
    ready_in: float = 0.0
    stopped: bool = False

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def prove_ours(self) -> None:
        """Refuse to go on unless every socket on the port belongs to what we started."""
        for _ in range(_LOOKS):
            there = [listener for listener in self._listeners(self.port) if listener.reachable]
            ours = owned(self.running.pids())
            if not there:
                raise self._gone()
            if all(listener.inode in ours for listener in there):
                return
            self.clock.sleep(_POLL)
        raise ForeignListener(
            f"port {self.port} is answered by a process the harness did not start",
            hint="stop the other server, or let the start command use {port}",
        )

    def wait_ready(self) -> None:
        """Wait until the server answers as its readiness asks."""
        began = self.clock.monotonic()
        end = began + self.start.readiness.timeout_seconds
        while True:
            if self.running.exit_code() is not None or self.box.why_ended():
                raise self._gone()
            if self._is_ready():
                break
            if self.clock.monotonic() > end:
                raise self._not_ready()
            self.clock.sleep(_POLL)
        self.ready_in = round(self.clock.monotonic() - began, 3)
        self.prove_ours()
        faults.point("server.ready")

    def stop(self) -> None:
        """End the server and everything it started."""
        if not self.stopped:
            is_gone = self.running.stop(GRACE)
            self.stopped = self.box.close() and (is_gone or self.box.is_private)
            faults.point("server.stopped")

    def port_is_free(self) -> bool:
        """Does nobody listen on the port any more?"""
        return self.stopped if self.box.is_private else not listeners(self.port)

    def tail(self, lines: int = 30) -> str:
        """The end of the server's output."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_bytes()[-20_000:].decode(errors="replace").splitlines()[-lines:])

    def _is_ready(self) -> bool:
        if not any(listener.reachable for listener in self._listeners(self.port)):
            return False
        match self.start.readiness.type:
            case "http":
                return self._answers(self.start.readiness)
            case "log":
                pattern = self.start.readiness.pattern
                return re.search(pattern, self.log.read_text(errors="replace")) is not None
        return True

    def _listeners(self, port: int | None = None) -> list[Listener]:
        return listeners(port, self.box.inquire, self.box.tables())

    def _gone(self) -> ServerExited:
        code, cause = self.running.wait(1.0), self.box.why_ended()
        what = f"ended with code {code}" if code is not None else f"no longer listens on port {self.port}"
        what += f" ({cause.value})" if cause else ""
        return ServerExited(
            f"the server {what}: `{self.start.command}`\n{self.tail()}",
            hint=_NOT_SHOWN if code == _NOT_FOUND and self.box.is_private else _BY_HAND,
        )

    def _not_ready(self) -> ServerNotReady:
        ours = owned(self.running.pids())
        elsewhere = [listener for listener in self._listeners() if listener.inode in ours]
        wait = self.start.readiness
        what = f"{wait.type} {wait.endpoint}" if wait.type == "http" else wait.type
        return ServerNotReady(
            f"the server was not ready on port {self.port} within {wait.timeout_seconds:g} s ({what}); "
            f"{_where(elsewhere)}\n{self.tail()}",
            hint="let the start command listen on {port} or $PORT at 127.0.0.1; "
            "startup.readiness in harness/environment.json sets what is waited for",
        )

    def _answers(self, readiness: Readiness) -> bool:
        url = f"{self.url}{readiness.endpoint}"
        try:
            client = httpx2.Client(transport=Dialed(self.box.dial), trust_env=False, timeout=2.0)
            with (
                client,
                hang_up_after(3.0, []) as watched,
                client.stream("GET", url, extensions=watched) as response,
            ):
                status = response.status_code
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return False
        return status == readiness.expected_status if readiness.expected_status else status < 500


@contextmanager
def running_server(start: Start, stand: Stand, sandbox: Sandbox, clock: Clock) -> Iterator[Server]:
    """A started and ready server; whatever happens, it is ended."""
    box = sandbox.open(stand.room)
    try:
        port = fixed_port(start) or (box.is_private and stand.port) or free_port()
        _refuse_taken(box, port)
        _set_up(start, box, stand.log)
        running = box.start(_command(start, port, box, stand.log))
    except BaseException:
        box.close()
        raise
    server = Server(start, port, box, running, stand.log, clock)
    try:
        server.wait_ready()
        yield server
    finally:
        server.stop()


def _set_up(start: Start, box: Box, log: Path) -> None:
    """Do what has to be done first; only here may hosts be reached that the user listed."""
    with box.leaving() as leading:
        for command in start.setup:
            env = box.environment({**start.env, **leading})
            done = box.run(Command(("sh", "-c", command), box.root, env, log), SETUP_SECONDS)
            if not done.ok:
                why = done.cause or f"exit code {done.code}"
                raise ServerExited(
                    f"the setup step `{command}` failed ({why})\n{done.output[-2000:].strip()}",
                    hint="try it by hand; hosts that it needs go into `[network] allow` of your own config",
                )


def _refuse_taken(box: Box, port: int) -> None:
    if not box.is_private and any(listener.reachable for listener in listeners(port)):
        raise PortTaken(
            f"port {port} is taken by another process",
            hint="stop that process, or use {port} in the start command",
        )


def fixed_port(start: Start) -> int | None:
    """The port a server insists on: one is named, and the start command takes no other."""
    takes_any = any("{port}" in text for text in (start.command, *start.env.values()))
    return None if takes_any else start.readiness.port


def _command(start: Start, port: int, box: Box, log: Path) -> Command:
    number = str(port)
    given = {name: value.replace("{port}", number) for name, value in start.env.items()}
    env = box.environment({"PORT": number, "HOST": "127.0.0.1", "PYTHONUNBUFFERED": "1", **given})
    words = ("sh", "-c", start.command.replace("{port}", number))
    return Command(words, box.root / start.working_dir, env, log)


def _where(elsewhere: list[Listener]) -> str:
    if not elsewhere:
        return "it listens nowhere"
    return "it listens on " + ", ".join(f"{listener.address} port {listener.port}" for listener in elsewhere)
