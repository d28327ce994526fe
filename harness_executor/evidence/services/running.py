"""Services beside one server: started before it, met in their own words, and gone with its box."""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from harness_executor.clock import Clock
from harness_executor.errors import ServiceFailed, UsageError
from harness_executor.evidence.services.base import (
    ENCODED,
    Address,
    Engine,
    Rows,
    Seat,
    Unanswered,
    read_address,
)
from harness_executor.evidence.services.outside import Outside
from harness_executor.evidence.services.registry import Found, engines_of, find, missing
from harness_executor.evidence.services.users import ordinary
from harness_executor.evidence.sockets import free_port
from harness_executor.kernel.frozen import frozen
from harness_executor.sandbox.base import Box, Command, Running
from harness_executor.workspace.needs import Service

SECONDS = 60.0
"""How long a service may take to answer."""
_POLL = 0.02
_PRIVILEGED, _ELSEWHERE = 1024, 20_000
_GRACE = 10.0
_TLS = re.compile(r"ssl|channel_binding=")
"""How options begin that insist on TLS, which no service of ours speaks."""
_HOST = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z][A-Za-z0-9_-]*)*")
FAULTS = (Unanswered, OSError, ValueError, LookupError)
"""What a service that answers wrongly makes its client raise."""


@frozen
class Wanted:
    """A service that is to run, and by what."""

    service: Service
    found: Found | None = None
    outside: Outside | None = None
    """An address the user gave instead."""


def wanted(services: tuple[Service, ...], project: Path, given: Mapping[str, str]) -> tuple[Wanted, ...]:
    """How each service is had on this machine; refuses when one that is required cannot be."""
    chosen: list[Wanted] = []
    for service in services:
        if service.name in given:
            chosen.append(Wanted(service, outside=Outside.read(service, given[service.name])))
        elif service.required:
            chosen.append(Wanted(service, find(service, project)))
        elif (found := _if_there(service, project)) is not None:
            chosen.append(Wanted(service, found))
    for one in chosen:
        _address(one)
    return tuple(chosen)


def _if_there(service: Service, project: Path) -> Found | None:
    try:
        return find(service, project)
    except type(missing(service)):
        return None


@frozen
class Serving:
    """One service that answers."""

    service: Service
    engine: Engine | None
    seat: Seat
    running: Running | None = None

    def query(self, text: str) -> Rows:
        """Ask it something in its own language; raises ServiceFailed with what it said."""
        if self.engine is None:
            raise ServiceFailed(
                f"the service {self.service.name} cannot be asked: {self.service.type} is not spoken here",
                hint="ask it by a command of the project",
            )
        with self._named("said", "look at what was asked"):
            return self.engine.query(self.seat, text)

    def variables(self) -> dict[str, str]:
        """What the project reads to find it."""
        parts = self.seat.address.parts()
        return {variable: parts[part] for part, variable in self.service.variables.items()}

    def prove_alive(self) -> None:
        """Refuse to go on unless it answers in its own protocol."""
        if self.running and self.running.exit_code() is not None:
            raise ServiceFailed(
                f"the service {self.service.name} ended with code {self.running.exit_code()}",
                hint="its log is with the evidence",
            )
        if self.engine is None:
            return
        with self._named("does not answer", "its log is with the evidence"):
            self.engine.ping(self.seat)

    def settle(self) -> None:
        """Make the user and the database of its address; raises ServiceFailed."""
        hint = "look at connection.default_url of the service in harness/environment.json"
        with self._named("could not make its user and database", hint):
            if self.engine:
                self.engine.settle(self.seat)

    def rest(self) -> None:
        """Have one of ours write down what it knows, and end it; raises ServiceFailed."""
        if self.engine and self.running:
            with self._named("could not write down what it knows", "its log is with the evidence"):
                self.engine.rest(self.seat)
            self.running.stop(_GRACE)

    @contextmanager
    def _named(self, what: str, hint: str) -> Iterator[None]:
        try:
            yield
        except FAULTS as error:
            raise ServiceFailed(f"the service {self.service.name} {what}: {error}", hint=hint) from error


@frozen
class Site:
    """Where services are to stand."""

    box: Box
    log: Path
    """The output of the server; that of a service lies beside it."""
    clock: Clock
    taken: frozenset[int] = frozenset()
    """Ports that are the server's."""


def host_names(all_wanted: tuple[Wanted, ...]) -> tuple[str, ...]:
    """What programs call the hosts of services, as in a network of containers."""
    named = [one.service.name for one in all_wanted]
    named += [_host(one.service.url) for one in all_wanted]
    return tuple(sorted({name for name in named if _HOST.fullmatch(name) and name != "localhost"}))


def _host(url: str) -> str:
    with suppress(ValueError):
        return urlsplit(url).hostname or ""
    return ""


@contextmanager
def serving(all_wanted: tuple[Wanted, ...], site: Site) -> Iterator[dict[str, Serving]]:
    """Every service, answering; afterwards they are asked to end."""
    with ExitStack() as stack:
        started = [(one, _started(one, seat, site, stack)) for one, seat in _seats(all_wanted, site)]
        for one, service in started:
            _await(service, site)
            if not one.outside:
                service.settle()
        yield {service.service.name: service for _, service in started}


def lay_to_rest(services: Mapping[str, Serving]) -> None:
    """Have every service of ours write down what it knows, and end it, so that its folder can be copied."""
    for service in services.values():
        service.rest()


def _seats(all_wanted: tuple[Wanted, ...], site: Site) -> Iterator[tuple[Wanted, Seat]]:
    taken = set(site.taken)
    for one in all_wanted:
        address = _address(one)
        if not site.box.is_private:
            address = replace(address, port=free_port())
        elif one.outside and address.port < _PRIVILEGED:
            # nobody in a box may listen there; what leads to it can be anywhere
            address = replace(address, port=address.port + _ELSEWHERE)
        while address.port in taken:
            address = replace(address, port=address.port + 1)
        taken.add(address.port)
        programs = one.found.programs if one.found else {}
        yield one, Seat(address, programs, site.box.data / one.service.name, site.box.dial)


def _address(one: Wanted) -> Address:
    if one.outside:
        return one.outside.within
    engine = one.found.engine if one.found else engines_of(one.service.type)[0]
    usual = replace(engine.usual, port=one.service.port or engine.usual.port)
    try:
        address = read_address(one.service.url, usual)
    except ValueError as error:
        raise UsageError(
            f"the address of the service {one.service.name} cannot be read: {error}",
            hint=f"correct connection.default_url in harness/environment.json: {ENCODED}",
        ) from error
    plain = "&".join(part for part in address.options.split("&") if not _TLS.match(part))
    return replace(address, options=plain)


def _started(one: Wanted, seat: Seat, site: Site, stack: ExitStack) -> Serving:
    if one.outside:
        stack.enter_context(site.box.leading(seat.address.port, one.outside.to))
        engines = engines_of(one.service.type)
        return Serving(one.service, engines[0] if engines else None, seat)
    if one.found is None:
        raise missing(one.service)
    log = site.log.with_name(f"{site.log.stem}-{one.service.name}.log")
    words = (*ordinary(site.box), *one.found.engine.serving(seat))
    running = site.box.start(Command(words, site.box.root, site.box.environment(), log))
    stack.callback(running.stop, _GRACE)
    return Serving(one.service, one.found.engine, seat, running)


def _await(service: Serving, site: Site) -> None:
    """Wait until it answers as its own clients would be answered."""
    end = site.clock.monotonic() + SECONDS
    while True:
        # looked at first: one that ends while it is asked is asked again, and then said to have ended
        is_over = service.running is not None and service.running.exit_code() is not None
        try:
            service.prove_alive()
        except ServiceFailed as error:
            if is_over or site.clock.monotonic() > end:
                raise _explained(error, service, site) from error
            site.clock.sleep(_POLL)
        else:
            return


def _explained(error: ServiceFailed, service: Serving, site: Site) -> ServiceFailed:
    log = site.log.with_name(f"{site.log.stem}-{service.service.name}.log")
    said = log.read_text(errors="replace")[-2000:].strip() if log.is_file() else ""
    return ServiceFailed(f"{error.message}\n{said}".strip(), hint=error.hint)
