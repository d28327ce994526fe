"""A server under test: started by us, proved to be ours, and proved gone."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from harness_executor import faults
from harness_executor.clock import Clock
from harness_executor.errors import ForeignListener, PortTaken, ServerExited, ServerNotReady
from harness_executor.evidence.knocking import Asker
from harness_executor.evidence.ports import (
    Ports,
    choose_ports,
    filled,
    placeholders,
    server_environment,
)
from harness_executor.evidence.ready import Waiting
from harness_executor.evidence.services.running import Serving, Site, Wanted, serving
from harness_executor.evidence.sockets import Listener, Lookout, listeners, local_sockets, owned, reached
from harness_executor.evidence.telling import error_line
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Box, Command, Room, Running, Sandbox
from harness_executor.workspace.project import Start

GRACE = 5.0
_POLL = 0.02
_FIRST_POLLS = 0.005
"""Seconds between looks at a server that has just been started."""
_WATCHED = re.compile(
    r"app crashed - waiting for file changes|Waiting for file changes before restarting"
    r"|Underlying HTTP server died"
)
"""What nodemon, Node and others that watch say when what they started has ended."""
DEBUGGERS = range(9229, 9240)
"""Ports at which Node lets a debugger in."""
_RARELY = 20
"""At which of the looks the whole box is looked at too."""
_NOT_FOUND = 127
"""What a shell ends with that finds no such program."""
_BY_HAND = "try the start command by hand; set --start or startup.command in harness/environment.json"
_STAYS = (
    "a server that puts itself into the background ends with its command: start it in the foreground, "
    "such as with `--no-daemon` or `exec`"
)
_NOT_SHOWN = (
    "a box has the programs of the system, of your PATH, and of the project's .venv, venv and node_modules; "
    "`[sandbox] read` in your own config.toml shows more folders"
)
_LISTEN = (
    "let the start command listen on {port} or $PORT at 127.0.0.1; "
    "startup.readiness in harness/environment.json sets what is waited for"
)
_LOOKS = 5
"""How often a socket is looked for: while a server forks, it may pass to a process that was not seen yet."""


@frozen
class Stand:
    """Where a server is to stand."""

    room: Room
    log: Path
    """Where its output goes."""
    port: int = 0
    """The port it gets in a network of its own; 0 for any that is free."""
    wanted: tuple[Wanted, ...] = ()
    """The services beside it."""
    patience: float = 0.0
    """Seconds after which one is given up that only listens elsewhere, or waits to be mended; 0 for never."""


@dataclass
class Server:
    """One running server."""

    start: Start
    ports: Ports
    box: Box
    running: Running
    log: Path
    clock: Clock
    services: Mapping[str, Serving] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    """Its own variables, as they were filled in."""
    patience: float = 0.0
    """As in its `Stand`."""
    ready_in: float = 0.0
    stopped: bool = False
    waiting: Waiting | None = None
    """How it was waited for."""

    def __post_init__(self) -> None:
        self.lookout = Lookout(self.box.inquire, self.box.tables)

    @property
    def port(self) -> int:
        """Its first port."""
        return self.ports.main

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def prove_ours(self) -> None:
        """Refuse to go on unless every socket on its ports is ours, and services answer."""
        for port in self.ports.all():
            self._prove_ours(port)
        for service in self.services.values():
            service.prove_alive()

    def prove_held(self) -> None:
        """Refuse what was seen unless it is still ours, and has not recovered since it was taken as up."""
        self.prove_ours()
        if self.waiting and self.waiting.has_recovered():
            raise ServerNotReady(
                f"the server answered {self.waiting.failing} to everything when it was asked, "
                f"and does not any more: it was not ready\n{self.tail()}",
                hint="startup.readiness in harness/environment.json sets what is waited for",
            )

    def _prove_ours(self, port: int) -> None:
        for _ in range(_LOOKS):
            there = reached(self._listeners(port))
            ours = owned(self.running.pids())
            if not there:
                raise self._gone(port)
            if all(listener.inode in ours for listener in there):
                return
            self.clock.sleep(_POLL)
        raise ForeignListener(
            f"port {port} is answered by a process the harness did not start",
            hint="stop the other server, or let the start command use {port}",
        )

    def wait_ready(self) -> None:
        """Wait until the server answers as its readiness asks."""
        began = self.clock.monotonic()
        end = began + self.start.readiness.timeout_seconds
        astray = began
        self.waiting = waiting = self._waiting()
        for look in count():
            # what a box does to the machine takes longer to see than whether somebody listens
            if self.running.exit_code() is not None or (look % _RARELY == 0 and self.box.why_ended()):
                raise self._gone(self.port)
            listens = self._listens()
            if listens and waiting.is_ready():
                break
            now = self.clock.monotonic()
            is_due = self.patience and (look % _RARELY == 0 or now - astray > self.patience)
            if listens or (is_due and not self._is_astray()):
                astray = now
            if now > end or (self.patience and now - astray > self.patience):
                raise self._not_ready(waiting, now - began)
            self.clock.sleep(_FIRST_POLLS if now - began < 1.0 else _POLL)
        self.ready_in = round(self.clock.monotonic() - began, 3)
        self.prove_ours()
        if self.running.exit_code() is not None:
            raise self._gone(self.port)
        if waiting.seen and not self.start.readiness.type and waiting.asker.speaks_tls():
            raise self._not_ready(waiting, self.ready_in)
        faults.point("server.ready")

    def stop(self) -> None:
        """End the server and everything it started."""
        self.lookout.close()
        if not self.stopped:
            is_gone = self.running.stop(GRACE)
            self.stopped = self.box.close() and (is_gone or self.box.is_private)
            faults.point("server.stopped")

    def port_is_free(self) -> bool:
        """Does nobody listen on its ports any more?"""
        return self.stopped if self.box.is_private else not any(map(listeners, self.ports.all()))

    def tail(self, lines: int = 30) -> str:
        """The end of the server's output, after the line that names an error where that is further above."""
        if not self.log.exists():
            return ""
        said = self.log.read_bytes()[-20_000:].decode(errors="replace").splitlines()
        end = "\n".join(said[-lines:])
        above = "" if error_line(end) else error_line("\n".join(said[:-lines]))
        return f"{above}\n…\n{end}" if above else end

    def _listens(self) -> bool:
        found = self._listeners()
        return all(reached([one for one in found if one.port == port]) for port in self.ports.all())

    def _waiting(self) -> Waiting:
        def beside(text: str) -> Command:
            words = ("sh", "-c", filled(text, placeholders(self.ports, self.services)))
            folder = self.box.root / self.start.working_dir
            return Command(words, folder, self.box.environment(self.env), self.log.with_suffix(".ready"))

        asker = Asker(self.box.dial, self.port, self.clock)
        return Waiting(self.start.readiness, asker, self.box, self.log, beside, self.clock)

    def _listeners(self, port: int | None = None) -> list[Listener]:
        return [one for one in self.lookout.listeners() if port in (None, one.port)]

    def _gone(self, port: int) -> ServerExited:
        code, cause = self.running.wait(1.0), self.box.why_ended()
        what = f"ended with code {code}" if code is not None else f"no longer listens on port {port}"
        what += f" ({cause.value})" if cause else ""
        hint = _STAYS if code == 0 else _BY_HAND
        return ServerExited(
            f"the server {what}: `{self.start.command}`\n{self.tail()}",
            hint=_NOT_SHOWN if code == _NOT_FOUND and self.box.is_private else hint,
        )

    def _not_ready(self, waiting: Waiting, seconds: float) -> ServerNotReady:
        wait = self.start.readiness
        waited = min(wait.timeout_seconds, round(seconds, 1)) if self.patience else wait.timeout_seconds
        what = f"{wait.type} {wait.endpoint}".strip() if wait.type == "http" else wait.type or "tcp"
        seen = f": {waiting.seen}" if waiting.seen else ""
        is_veiled = bool(reached(self._listeners(self.port))) and waiting.asker.speaks_tls()
        return ServerNotReady(
            f"the server was not ready on port {self.port} within {waited:g} s ({what}){seen}; "
            f"{'it speaks TLS' if is_veiled else self._where()}\n{self.tail()}",
            hint="start it without TLS: scenarios are sent as plain http" if is_veiled else _LISTEN,
        )

    def _is_astray(self) -> bool:
        """Does it listen elsewhere, or wait for its files to change?"""
        return any(one.port not in DEBUGGERS for one in self._own()) or bool(_WATCHED.search(self.tail()))

    def _own(self) -> list[Listener]:
        """Where it listens itself."""
        ours = owned(self.running.pids())
        beside = {service.seat.address.port for service in self.services.values()}
        return [one for one in self._listeners() if one.inode in ours and one.port not in beside]

    def _where(self) -> str:
        ours = owned(self.running.pids())
        places = [f"{listener.address} port {listener.port}" for listener in self._own()]
        places += [f"the local socket {name}" for name in local_sockets(self.box.tables(), ours)]
        return f"it listens on {', '.join(places)}" if places else "it listens nowhere"


@contextmanager
def running_server(start: Start, stand: Stand, sandbox: Sandbox, clock: Clock) -> Iterator[Server]:
    """A started and ready server with its services; whatever happens, everything is ended."""
    box = sandbox.open(stand.room)
    server = None
    try:
        ports = choose_ports(start, box, stand.port)
        _refuse_taken(box, ports)
        site = Site(box, stand.log, clock, frozenset(ports.all()))
        with serving(stand.wanted, site) as services:
            server = _begun(start, ports, box, services, site)
            server.patience = stand.patience
            try:
                server.wait_ready()
                yield server
            finally:
                server.running.stop(GRACE)
    finally:
        if server:
            server.stop()
        else:
            box.close()


def _begun(start: Start, ports: Ports, box: Box, services: Mapping[str, Serving], site: Site) -> Server:
    values = placeholders(ports, services)
    env = server_environment(start, values, services)
    words = ("sh", "-c", filled(start.command, values))
    command = Command(words, box.root / start.working_dir, box.environment(env), site.log)
    return Server(start, ports, box, box.start(command), site.log, site.clock, services, env)


def _refuse_taken(box: Box, ports: Ports) -> None:
    for port in () if box.is_private else ports.all():
        if any(listener.reachable for listener in listeners(port)):
            raise PortTaken(
                f"port {port} is taken by another process",
                hint="stop that process, or use {port} in the start command",
            )
